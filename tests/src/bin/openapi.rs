//! Prints the API's description, as `docs/openapi.json` holds it.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(acceptance::api::description_text().as_bytes())
}
