//! What people see while they wait: on standard error, so that standard output holds results alone.

use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

/// A step that takes a while: a moving line on a terminal, two plain lines elsewhere.
#[derive(Debug)]
pub struct Step {
    bar: Option<ProgressBar>,
    what: String,
    began: Instant,
}

impl Step {
    pub fn begin(what: impl Into<String>) -> Self {
        let what = what.into();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner().with_message(what.clone());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        if bar.is_none() {
            note(&format!("… {what}"));
        }
        Self { bar, what, began: Instant::now() }
    }

    /// Says how far the step is, where the line can change.
    pub fn now(&self, detail: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{}: {detail}", self.what));
        }
    }

    pub fn done(self) {
        self.done_with("");
    }

    pub fn done_with(mut self, result: &str) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        let colon = if result.is_empty() { "" } else { ": " };
        note(&format!("✓ {}{colon}{result} ({:.1} s)", self.what, self.began.elapsed().as_secs_f32()));
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A line for people.
pub fn note(line: &str) {
    // A terminal that went away must not end the clean-up that follows.
    let _gone = writeln!(std::io::stderr(), "{line}");
}

/// A line of the result.
pub fn result(line: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{line}")
}
