//! One file per route.

pub mod content;
pub mod create;
pub mod delete;
pub mod get;
pub mod job;
pub mod list;
pub mod reingest;

use anchorage_lambda::problem::{ErrorCode, Problem};
use anchorage_service::files::FilesError;

fn problem(error: FilesError) -> Problem {
    match error {
        FilesError::DomainUnknown(_) => Problem::new(ErrorCode::DomainUnknown, "Register the domain first."),
        FilesError::DomainDisabled(_) => Problem::new(ErrorCode::DomainDisabled, "Switch the domain on first."),
        FilesError::NotFound => Problem::not_found(),
        FilesError::Busy => Problem::new(ErrorCode::FileBusy, "Wait until the present job has ended."),
        FilesError::UploadPending => Problem::new(ErrorCode::UploadPending, "Upload the announced bytes first."),
        FilesError::Conflict => Problem::new(ErrorCode::WriteConflict, "Others keep changing the file. Try again."),
        FilesError::Outage(outage) => outage.into(),
    }
}
