//! The embedder through HTTP.

use std::time::{Duration, Instant};

use anchorage_local::embedder::{Bound, Rules};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

struct Embedder {
    http: Client,
    url: String,
}

impl Embedder {
    async fn start() -> Self {
        // The client asks for a TLS library even where it will speak plain HTTP.
        let _installed_before = rustls::crypto::ring::default_provider().install_default();
        let rules = Rules { dims: 64, max_inputs: 3, max_chars: 20 };
        let bound = Bound::bind("127.0.0.1:0".parse().unwrap(), rules).await.unwrap();
        let url = bound.url();
        tokio::spawn(bound.serve(std::future::pending()));
        Self { http: Client::new(), url }
    }

    async fn embed(&self, body: &Value) -> (StatusCode, Value) {
        let response = self.http.post(format!("{}/v1/embeddings", self.url)).json(body).send().await.unwrap();
        (response.status(), response.json().await.unwrap())
    }

    async fn control(&self, body: &Value) -> StatusCode {
        self.http.post(format!("{}/control", self.url)).json(body).send().await.unwrap().status()
    }

    async fn counters(&self) -> Value {
        self.http.get(format!("{}/control", self.url)).send().await.unwrap().json().await.unwrap()
    }
}

fn vector(answer: &Value, index: usize) -> Vec<f64> {
    answer["data"][index]["embedding"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect()
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[tokio::test]
async fn texts_that_share_words_are_near_and_each_text_has_one_vector() {
    let embedder = Embedder::start().await;
    let body = json!({"model": "m", "input": ["the red house", "Red house!", "ships at sea"], "input_type": "passage"});
    let (status, answer) = embedder.embed(&body).await;
    assert_eq!(status, StatusCode::OK);
    let (a, b, c) = (vector(&answer, 0), vector(&answer, 1), vector(&answer, 2));
    assert_eq!(a.len(), 64);
    for vector in [&a, &b, &c] {
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-5);
    }
    assert!(cosine(&a, &b) > 0.6 && cosine(&a, &b) > cosine(&a, &c) + 0.3);
    assert_eq!(answer["usage"], json!({"prompt_tokens": 8, "total_tokens": 8}));
    assert_eq!((&answer["model"], &answer["data"][1]["index"]), (&json!("m"), &json!(1)));
    let (_, again) = embedder.embed(&json!({"model": "m", "input": "the red house", "input_type": "query"})).await;
    assert_eq!(vector(&again, 0), a);
}

#[tokio::test]
async fn requests_that_a_vendor_refuses_are_refused() {
    let embedder = Embedder::start().await;
    let cases = [
        ("no model", json!({"input": "x"}), "model"),
        ("empty model", json!({"model": "", "input": "x"}), "model"),
        ("no input", json!({"model": "m"}), "input"),
        ("no texts", json!({"model": "m", "input": []}), "1 to 3"),
        ("too many", json!({"model": "m", "input": ["a", "b", "c", "d"]}), "1 to 3"),
        ("empty text", json!({"model": "m", "input": ["a", ""]}), "input[1]"),
        ("too long", json!({"model": "m", "input": "x".repeat(21)}), "20 characters"),
        ("other dimensions", json!({"model": "m", "input": "x", "dimensions": 32}), "64 dimensions"),
        ("other encoding", json!({"model": "m", "input": "x", "encoding_format": "base64"}), "float"),
        ("not a text", json!({"model": "m", "input": 5}), ""),
    ];
    for (name, body, text) in cases {
        let (status, answer) = embedder.embed(&body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{name}");
        assert_eq!(answer["error"]["type"], "invalid_request_error", "{name}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(text), "{name}: {answer}");
    }
    let at_the_limit = json!({"model": "m", "input": ["ш".repeat(20), "b", "c"]});
    assert_eq!(embedder.embed(&at_the_limit).await.0, StatusCode::OK);
    assert_eq!(embedder.counters().await["inputs"], json!(3), "refused texts are not counted");
}

#[tokio::test]
async fn faults_come_as_commanded_and_go() {
    let embedder = Embedder::start().await;
    let ask = json!({"model": "m", "input": "x"});
    let (ok, down, throttled) = (StatusCode::OK, StatusCode::SERVICE_UNAVAILABLE, StatusCode::TOO_MANY_REQUESTS);
    for (control, expected) in [
        (json!({"mode": "down"}), vec![down, down]),
        (json!({"mode": "throttle"}), vec![throttled, throttled]),
        (json!({"mode": "ok", "fail_next": 2}), vec![down, down, ok]),
        (json!({"mode": "ok"}), vec![ok]),
    ] {
        assert_eq!(embedder.control(&control).await, StatusCode::NO_CONTENT);
        for status in expected {
            assert_eq!(embedder.embed(&ask).await.0, status, "{control}");
        }
    }
    assert_eq!(embedder.control(&json!({"mode": "broken"})).await, StatusCode::BAD_REQUEST);
    assert_eq!(embedder.counters().await["calls"], json!(8));
}

#[tokio::test]
async fn slow_calls_overlap_and_the_most_at_once_is_counted() {
    let embedder = Embedder::start().await;
    embedder.control(&json!({"mode": "slow", "delay_ms": 200})).await;
    let begun = Instant::now();
    let ask = json!({"model": "m", "input": "x"});
    tokio::join!(embedder.embed(&ask), embedder.embed(&ask), embedder.embed(&ask));
    assert!(begun.elapsed() >= Duration::from_millis(200));
    assert_eq!(embedder.counters().await["max_in_flight"], json!(3));
}
