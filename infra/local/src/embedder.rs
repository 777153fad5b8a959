//! An OpenAI-compatible embedder for tests: deterministic, refuses what vendors refuse, fails on command.
//!
//! A text's vector is its hashed bag of words, so texts that share words are near. Nothing about meaning is in it.

use std::future::{Future, IntoFuture as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The largest request body, in bytes.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;
/// The longest delay that can be commanded.
const MAX_DELAY: Duration = Duration::from_mins(2);
/// What `slow` waits where no delay is given.
const SLOW: Duration = Duration::from_secs(2);
/// How many components of the vector one word moves, so that a chance collision does not make two words the same.
const HASHES_PER_WORD: u64 = 4;

/// What is refused, and the size of what is answered.
#[derive(Debug, Clone, clap::Args)]
pub struct Rules {
    /// Dimensions of a vector.
    #[arg(long, default_value_t = 384, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub dims: u16,
    /// The most texts of one request.
    #[arg(long, default_value_t = 96)]
    pub max_inputs: usize,
    /// The longest text, in characters.
    #[arg(long, default_value_t = 8_000)]
    pub max_chars: usize,
}

/// An embedder that listens and has not begun to answer.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    rules: Rules,
}

impl Bound {
    /// Listens on `address`; port 0 takes a free one.
    ///
    /// # Errors
    /// The address cannot be listened on.
    pub async fn bind(address: SocketAddr, rules: Rules) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, rules })
    }

    /// The base URL: `/v1/embeddings` and `/control` are under it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers until `stop` resolves. Calls that are still delayed then are dropped.
    ///
    /// # Errors
    /// The listener failed.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send) -> std::io::Result<()> {
        let shared = Arc::new(Shared { rules: self.rules, state: Mutex::new(Fakery::default()) });
        let app = Router::new()
            .route("/v1/embeddings", post(embeddings))
            .route("/control", get(counters).post(control))
            .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
            .with_state(shared);
        tokio::select! {
            ended = axum::serve(self.listener, app).into_future() => ended,
            () = stop => Ok(()),
        }
    }
}

#[derive(Debug)]
struct Shared {
    rules: Rules,
    state: Mutex<Fakery>,
}

#[derive(Debug, Default)]
struct Fakery {
    control: Control,
    counters: Counters,
    in_flight: u64,
}

/// How calls are answered. `fail_next` counts down and leaves the mode as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Control {
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    fail_next: u64,
    #[serde(default)]
    delay_ms: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Ok,
    Down,
    Throttle,
    Slow,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Counters {
    calls: u64,
    inputs: u64,
    max_in_flight: u64,
}

/// Counts a call as in flight until it is answered or its caller hangs up.
struct InFlight(Arc<Shared>);

impl InFlight {
    fn enter(shared: &Arc<Shared>) -> Self {
        let mut state = shared.state.lock();
        state.in_flight += 1;
        state.counters.calls += 1;
        state.counters.max_in_flight = state.counters.max_in_flight.max(state.in_flight);
        Self(Arc::clone(shared))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.state.lock().in_flight -= 1;
    }
}

#[derive(Debug, Deserialize)]
struct EmbeddingsRequest {
    model: Option<String>,
    input: Option<Input>,
    /// Vendors tell passages from queries by it; a bag of words is the same for both.
    input_type: Option<String>,
    dimensions: Option<u16>,
    encoding_format: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Input {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug)]
struct Fault {
    status: StatusCode,
    kind: &'static str,
    message: String,
}

impl Fault {
    fn invalid(message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, kind: "invalid_request_error", message: message.into() }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let body = json!({"error": {"message": self.message, "type": self.kind, "code": null}});
        let throttled = self.status == StatusCode::TOO_MANY_REQUESTS;
        let mut response = (self.status, Json(body)).into_response();
        if throttled {
            response.headers_mut().insert("retry-after", axum::http::HeaderValue::from_static("1"));
        }
        response
    }
}

async fn counters(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let state = shared.state.lock();
    let Counters { calls, inputs, max_in_flight } = state.counters;
    Json(json!({"calls": calls, "inputs": inputs, "max_in_flight": max_in_flight, "control": state.control}))
}

async fn control(
    State(shared): State<Arc<Shared>>,
    body: Result<Json<Control>, JsonRejection>,
) -> Result<StatusCode, Fault> {
    let Json(control) = body.map_err(|error| Fault::invalid(error.body_text()))?;
    if Duration::from_millis(control.delay_ms) > MAX_DELAY {
        return Err(Fault::invalid("delay_ms is too long"));
    }
    shared.state.lock().control = control;
    Ok(StatusCode::NO_CONTENT)
}

async fn embeddings(
    State(shared): State<Arc<Shared>>,
    body: Result<Json<EmbeddingsRequest>, JsonRejection>,
) -> Result<Json<Value>, Fault> {
    let _in_flight = InFlight::enter(&shared);
    faults(&shared).await?;
    let Json(request) = body.map_err(|error| Fault::invalid(error.body_text()))?;
    let (model, inputs) = checked(request, &shared.rules)?;
    shared.state.lock().counters.inputs += inputs.len() as u64;
    let tokens: usize = inputs.iter().map(|input| words(input).count()).sum();
    let data: Vec<Value> = inputs
        .iter()
        .enumerate()
        .map(|(index, input)| json!({"object": "embedding", "index": index, "embedding": embed(input, shared.rules.dims)}))
        .collect();
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    Ok(Json(json!({"object": "list", "model": model, "data": data, "usage": usage})))
}

/// The faults that were commanded, before the request is looked at: a server that is down validates nothing.
async fn faults(shared: &Shared) -> Result<(), Fault> {
    let down = || Fault {
        status: StatusCode::SERVICE_UNAVAILABLE,
        kind: "server_error",
        message: "the embedder is down".to_owned(),
    };
    let (mode, delay, fail) = {
        let mut state = shared.state.lock();
        let fail = state.control.fail_next > 0;
        state.control.fail_next = state.control.fail_next.saturating_sub(1);
        (state.control.mode, Duration::from_millis(state.control.delay_ms), fail)
    };
    let delay = if mode == Mode::Slow && delay.is_zero() { SLOW } else { delay };
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    match mode {
        _ if fail => Err(down()),
        Mode::Ok | Mode::Slow => Ok(()),
        Mode::Down => Err(down()),
        Mode::Throttle => Err(Fault {
            status: StatusCode::TOO_MANY_REQUESTS,
            kind: "rate_limit_error",
            message: "too many requests".to_owned(),
        }),
    }
}

fn checked(request: EmbeddingsRequest, rules: &Rules) -> Result<(String, Vec<String>), Fault> {
    let EmbeddingsRequest { model, input, input_type, dimensions, encoding_format } = request;
    let model = model.filter(|name| !name.is_empty()).ok_or_else(|| Fault::invalid("you must provide a model"))?;
    if dimensions.is_some_and(|asked| asked != rules.dims) {
        return Err(Fault::invalid(format!("this model has {} dimensions", rules.dims)));
    }
    if encoding_format.is_some_and(|format| format != "float") {
        return Err(Fault::invalid("encoding_format must be float"));
    }
    if input_type.is_some_and(|kind| kind.is_empty()) {
        return Err(Fault::invalid("input_type must not be empty"));
    }
    let inputs = match input.ok_or_else(|| Fault::invalid("you must provide input"))? {
        Input::One(text) => vec![text],
        Input::Many(texts) => texts,
    };
    if inputs.is_empty() || inputs.len() > rules.max_inputs {
        return Err(Fault::invalid(format!("input must have 1 to {} texts, got {}", rules.max_inputs, inputs.len())));
    }
    for (index, input) in inputs.iter().enumerate() {
        if input.is_empty() {
            return Err(Fault::invalid(format!("input[{index}] cannot be an empty string")));
        }
        if input.chars().nth(rules.max_chars).is_some() {
            return Err(Fault::invalid(format!("input[{index}] is longer than {} characters", rules.max_chars)));
        }
    }
    Ok((model, inputs))
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// The hashed bag of words, of length 1.
fn embed(text: &str, dims: u16) -> Vec<f32> {
    let mut sums = vec![0_f32; usize::from(dims)];
    let mut add = |word: &str| {
        for salt in 0..HASHES_PER_WORD {
            let hash = hash(word, salt);
            let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
            let place = usize::try_from(hash % u64::from(dims)).unwrap_or(0);
            if let Some(sum) = sums.get_mut(place) {
                *sum += sign;
            }
        }
    };
    words(text).for_each(|word| add(&word));
    if sums.iter().all(|sum| *sum == 0.0) {
        // Punctuation alone, or signs that cancel out: still a vector, and the same one each time.
        if let Some(first) = sums.first_mut() {
            *first = 1.0;
        }
    }
    let length = sums.iter().map(|sum| sum * sum).sum::<f32>().sqrt();
    sums.iter().map(|sum| sum / length).collect()
}

/// FNV-1a with a finisher: the standard library's hasher may change between releases, these vectors may not.
fn hash(word: &str, salt: u64) -> u64 {
    let seed = 0xcbf2_9ce4_8422_2325 ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let fnv = word.bytes().fold(seed, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mixed = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}
