//! Process start to the first request for an event: what a cold start costs before any work is done.

use super::{median, millis, ratio};
use crate::{
    binaries::FUNCTIONS,
    failure::{Doing as _, Failure},
    progress::{Step, result},
    project::Project,
    run,
    setup::Tools,
};
use serde_json::json;
use std::{
    fs,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

/// Starts of each program; the median counts.
const STARTS: usize = 15;
/// How long one start may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// The promise for each function.
const MAX_CPU: Duration = Duration::from_millis(15);
const MAX_MEMORY_KIB: u32 = 20 * 1024;
/// The program that a function is compared with: what a Python function does until its first event, and no more.
const PEER: &str = include_str!("start.py");
/// What the runtime asks for an event with (Lambda runtime API).
const NEXT: &str = "GET /2018-06-01/runtime/invocation/next ";

#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    cpu: Duration,
    peak_kib: u32,
}

pub fn start(project: &Project, tools: &Tools) -> Result<(), Failure> {
    let platform = Platform::begin()?;
    let step = Step::begin("measuring starts");
    let mut peer = || {
        let mut command = Command::new(tools.deployer("python"));
        command.args(["-c", PEER]);
        command
    };
    let boto3 = platform.cost(&mut peer, &step, "boto3")?;
    let mut rows = vec![("boto3, four clients", boto3)];
    for name in FUNCTIONS {
        let bootstrap = project.function(name).join("bootstrap");
        rows.push((name, platform.cost(&mut || Command::new(&bootstrap), &step, name)?));
    }
    step.done();
    say("\nstart to the first request for an event  CPU        peak memory  CPU of boto3's  memory of boto3's")?;
    let mut kept = true;
    for (name, cost) in rows {
        let (share, memory) = (ratio(boto3.cpu, cost.cpu), f64::from(boto3.peak_kib) / f64::from(cost.peak_kib));
        let mib = f64::from(cost.peak_kib) / 1024.0;
        let cpu = millis(cost.cpu);
        say(&format!("{name:40} {cpu:6.1} ms {mib:8.1} MiB   1/{share:<12.1}  1/{memory:.1}"))?;
        kept &= name.starts_with("boto3") || (cost.cpu <= MAX_CPU && cost.peak_kib <= MAX_MEMORY_KIB);
    }
    let verdict = if kept { "kept" } else { "NOT kept" };
    say(&format!("at most {} ms and {} MiB each: {verdict}", MAX_CPU.as_millis(), MAX_MEMORY_KIB / 1024))
}

fn say(line: &str) -> Result<(), Failure> {
    result(line).doing("printing")
}

/// Stands where the platform stands, and where every service does: it answers nothing useful to anybody, and says when a
/// program has asked for its first event.
struct Platform {
    port: u16,
    asked: mpsc::Receiver<()>,
}

impl Platform {
    fn begin() -> Result<Self, Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).doing("opening the runtime's address")?;
        let port = listener.local_addr().doing("opening the runtime's address")?.port();
        let (tell, asked) = mpsc::channel();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let tell = tell.clone();
                // A caller that goes away is no failure here: all of them do.
                thread::spawn(move || drop(converse(connection, &tell)));
            }
        });
        Ok(Self { port, asked })
    }

    /// The median cost of several starts.
    fn cost(&self, program: &mut dyn FnMut() -> Command, step: &Step, name: &str) -> Result<Cost, Failure> {
        let mut costs = Vec::new();
        for number in 1..=STARTS {
            step.now(&format!("{name}, {number} of {STARTS}"));
            costs.push(self.once(&mut program(), name)?);
        }
        Ok(Cost {
            cpu: median(&mut costs.iter().map(|cost| cost.cpu).collect::<Vec<_>>()),
            peak_kib: median(&mut costs.iter().map(|cost| cost.peak_kib).collect::<Vec<_>>()),
        })
    }

    fn once(&self, command: &mut Command, name: &str) -> Result<Cost, Failure> {
        let here = format!("127.0.0.1:{}", self.port);
        let url = format!("http://{here}");
        let embedders = json!([{
            "name": "dense", "kind": "openai", "url": url, "model": "m", "dims": 384, "max_batch": 32, "max_input_chars": 8000,
        }]);
        command.env_clear().env("PATH", run::search_path()).envs([
            ("AWS_LAMBDA_RUNTIME_API", here.as_str()),
            ("AWS_LAMBDA_FUNCTION_NAME", name),
            ("AWS_LAMBDA_FUNCTION_VERSION", "1"),
            ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
            ("AWS_LAMBDA_LOG_GROUP_NAME", name),
            ("AWS_LAMBDA_LOG_STREAM_NAME", name),
            ("AWS_REGION", "us-east-1"),
            ("AWS_DEFAULT_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_ENDPOINT_URL", &url),
            ("ANCHORAGE_TABLE", "table"),
            ("ANCHORAGE_BUCKET", "bucket"),
            ("ANCHORAGE_QUEUE_URL", &url),
            ("ANCHORAGE_QDRANT_URL", &url),
            ("ANCHORAGE_COLLECTION", "chunks"),
            ("ANCHORAGE_EMBEDDERS", &embedders.to_string()),
        ]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().doing(format!("starting {name}"))?;
        let cost = self.wait(&mut child, name).and_then(|()| cost(child.id()).doing(format!("measuring {name}")));
        let _ended = child.kill();
        let _reaped = child.wait();
        // Another request of the same program would count as the next one's.
        while self.asked.try_recv().is_ok() {}
        cost
    }

    fn wait(&self, child: &mut Child, name: &str) -> Result<(), Failure> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            match self.asked.recv_timeout(run::POLL) {
                Ok(()) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => run::pause()?,
            }
            if let Some(status) = child.try_wait().doing(format!("waiting for {name}"))? {
                return Err(Failure::said(format!("{name} ended before its first event ({status})")));
            }
        }
        Err(Failure::said(format!("{name} asked for no event in {} s", PATIENCE.as_secs())))
    }
}

/// Answers requests of HTTP/1.1 without bodies that matter; a request for an event is announced and left waiting.
fn converse(connection: TcpStream, tell: &Sender<()>) -> io::Result<()> {
    let mut answers = connection.try_clone()?;
    let mut requests = BufReader::new(connection);
    loop {
        let mut first = String::new();
        if requests.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let (mut line, mut length) = (first.clone(), 0);
        while !line.trim().is_empty() {
            line.clear();
            requests.read_line(&mut line)?;
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        io::copy(&mut requests.by_ref().take(length), &mut io::sink())?;
        if first.starts_with(NEXT) {
            // Nobody listens any more once the measurements are over.
            let _told = tell.send(());
        } else if first.starts_with("PRI ") {
            // HTTP/2 is not spoken here: the caller learns it at once.
            return Ok(());
        } else {
            answers.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}")?;
        }
    }
}

/// What a running process has used so far.
fn cost(pid: u32) -> io::Result<Cost> {
    let mut nanoseconds = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        // The first number: time on a processor.
        let text = fs::read_to_string(task?.path().join("schedstat"))?;
        nanoseconds += text.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
    }
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak_kib = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0);
    Ok(Cost { cpu: Duration::from_nanos(nanoseconds), peak_kib })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platform_hears_the_first_request_for_an_event_and_refuses_the_rest() {
        let platform = Platform::begin().unwrap();
        let mut caller = TcpStream::connect((Ipv4Addr::LOCALHOST, platform.port)).unwrap();
        caller.write_all(b"POST /table HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody").unwrap();
        let mut answer = [0; 12];
        caller.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 400");
        assert!(platform.asked.try_recv().is_err());
        caller.write_all(format!("{NEXT}HTTP/1.1\r\nhost: here\r\n\r\n").as_bytes()).unwrap();
        platform.asked.recv_timeout(PATIENCE).unwrap();
    }

    #[test]
    fn cost_of_a_running_process_is_more_than_nothing() {
        let cost = cost(std::process::id()).unwrap();
        assert!(cost.cpu > Duration::ZERO && cost.peak_kib > 0, "{cost:?}");
    }
}
