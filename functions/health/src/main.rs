use anchorage_adapters::{RandomIds, SystemClock};
use anchorage_lambda::{
    config::Config,
    http::{Frame, app, serve},
    telemetry,
};
use health::{connect, router};
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    let config = Config::from_env();
    telemetry::init(config.log());
    let (routes, _description) = router(connect::health(&config)).split_for_parts();
    let frame = Frame { function: "health", clock: Arc::new(SystemClock), ids: Arc::new(RandomIds) };
    serve(app(frame, routes)).await
}
