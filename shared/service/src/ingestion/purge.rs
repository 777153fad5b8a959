//! What a deleted file left behind is removed, counted, and counted again.

use super::{Attempt, Ingestion, Stop};
use anchorage_domain::{FailureCode, PurgeReceipt, Stage};
use anchorage_ports::{CountFilter, Generations, Outage};

impl Ingestion {
    pub(super) async fn purge(&self, attempt: &Attempt<'_>) -> Result<(), Stop> {
        let outage = |outage: Outage| Stop::outage(Stage::Purge, &outage);
        let points = self.index.remove(attempt.scope, attempt.file, Generations::All).await.map_err(outage)?;
        let objects = self.blobs.remove_file(attempt.scope, attempt.file).await.map_err(outage)?;
        let filter = CountFilter { file: Some(attempt.file), ..CountFilter::default() };
        let left = self.index.count(attempt.scope, &filter).await.map_err(outage)?;
        if left > 0 {
            // An ingest that was running when the file was deleted may have staged one more batch.
            let detail = format!("{left} points were staged again during the purge");
            return Err(Stop::Transient { code: FailureCode::IndexFailed, stage: Stage::Purge, detail });
        }
        self.change(attempt, |now, job, _file| {
            let mut job = job.clone().succeed(attempt.id, now).map_err(|_| Stop::LostLease)?;
            // A repeated purge finds nothing left; what an earlier attempt removed still counts.
            let before = job.receipt.unwrap_or_default();
            job.receipt = Some(PurgeReceipt {
                points_removed: before.points_removed + points,
                objects_removed: before.objects_removed + objects,
                points_left: left,
            });
            Ok((job, None, ()))
        })
        .await
    }
}
