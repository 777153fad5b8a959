//! What the project promises of speed and memory, measured: each figure beside something of the same run, for a figure of
//! one machine says nothing on another.

mod start;
mod upload;

use crate::{BenchArgs, failure::Failure, package, project::Project, setup};
use std::time::Duration;

pub fn bench(project: &Project, args: &BenchArgs) -> Result<(), Failure> {
    let tools = setup::setup(project)?;
    // Measured is what is deployed.
    package::package(project)?;
    start::start(project, &tools)?;
    upload::upload(project, &tools, &args.stack)
}

/// The middle one of the values, or of an even number of them the upper of the two.
fn median<T: Ord + Copy + Default>(values: &mut [T]) -> T {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// How many times `of` the value is.
fn ratio(value: Duration, of: Duration) -> f64 {
    value.as_secs_f64() / of.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle_whatever_the_order() {
        for (values, expected) in [(vec![], 0), (vec![7], 7), (vec![3, 1, 2], 2), (vec![4, 1, 3, 2], 3)] {
            assert_eq!(median(&mut values.clone()), expected, "{values:?}");
        }
    }
}
