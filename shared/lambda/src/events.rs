//! What a message on the pipeline's queues asks for. Pure: a body in, typed requests out.
//!
//! Two kinds of messages share a queue: the object store's notifications, and this service's own [`IngestMessage`]s.
//! Only the fields that are used are read, so that a notification of a newer version still reads.

use anchorage_domain::{FileId, JobId, ObjectKey, Sequencer, TenantScope, VersionId};
use anchorage_ports::{IngestMessage, MessageBody};
use anchorage_service::ingestion::ObjectArrival;
use percent_encoding::percent_decode_str;
use serde::Deserialize;

/// Longest object key (S3, object key names).
const MAX_KEY_BYTES: usize = 1024;

/// What a message asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming {
    /// Objects changed; one notification can name several.
    Objects(Vec<ObjectEvent>),
    /// A job waits in the store.
    Run { scope: TenantScope, file: FileId, job: JobId },
    /// The object store says that notifications are set up.
    TestEvent,
    /// Nothing that is understood, now or after any number of deliveries.
    Malformed(Malformed),
}

/// What happened to one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObjectEvent {
    /// An upload is there.
    Arrived { scope: TenantScope, arrival: ObjectArrival },
    /// An object is gone. Uploads are removed by the pipeline itself, which knows already.
    Removed,
    /// The key is none that this service gives out.
    Unexpected,
}

/// Why a message is not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    #[error("the body is not JSON")]
    NotJson,
    #[error("the body is neither a notification nor a message of the pipeline")]
    UnknownShape,
    #[error("the notification lacks what every notification has")]
    BrokenNotification,
    #[error("the message of the pipeline is not of its form")]
    BrokenMessage,
}

#[derive(Deserialize)]
struct Notification {
    #[serde(rename = "Records")]
    records: Vec<NotificationRecord>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NotificationRecord {
    event_name: String,
    s3: NotificationEntity,
}

#[derive(Deserialize)]
struct NotificationEntity {
    object: NotificationObject,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NotificationObject {
    key: String,
    version_id: Option<String>,
    sequencer: Option<String>,
}

/// Reads a message's body.
#[must_use]
pub fn decode(body: &str) -> Incoming {
    let Ok(value) = serde_json::from_str::<serde_json::Value>(body) else {
        return Incoming::Malformed(Malformed::NotJson);
    };
    let has = |name: &str| value.get(name).is_some();
    if has("anchorage") {
        match serde_json::from_value(value) {
            Ok(message) => own(&message),
            Err(_) => Incoming::Malformed(Malformed::BrokenMessage),
        }
    } else if has("Records") {
        match serde_json::from_value::<Notification>(value) {
            Ok(notification) => Incoming::Objects(notification.records.into_iter().map(object).collect()),
            Err(_) => Incoming::Malformed(Malformed::BrokenNotification),
        }
    } else if value.get("Event").and_then(serde_json::Value::as_str) == Some("s3:TestEvent") {
        Incoming::TestEvent
    } else {
        Incoming::Malformed(Malformed::UnknownShape)
    }
}

fn own(message: &IngestMessage) -> Incoming {
    match message.anchorage {
        MessageBody::RunJob { tenant_id, file_id, job_id } => {
            #[expect(clippy::disallowed_methods, reason = "only this service may send to its queue")]
            let scope = TenantScope::for_pipeline(tenant_id);
            Incoming::Run { scope, file: file_id, job: job_id }
        }
    }
}

fn object(record: NotificationRecord) -> ObjectEvent {
    let NotificationObject { key, version_id, sequencer } = record.s3.object;
    let Some(key) = object_key(&key) else {
        return ObjectEvent::Unexpected;
    };
    // Notifications say `ObjectCreated:Put`, configurations `s3:ObjectCreated:Put`.
    let name = record.event_name.strip_prefix("s3:").unwrap_or(&record.event_name);
    if !name.starts_with("ObjectCreated:") {
        return ObjectEvent::Removed;
    }
    #[expect(clippy::disallowed_methods, reason = "only an upload ticket signs such a key")]
    let scope = TenantScope::for_pipeline(key.tenant);
    let version = version_id.and_then(|text| VersionId::new(text).ok());
    let sequencer = sequencer.and_then(|text| Sequencer::new(&text).ok());
    ObjectEvent::Arrived { scope, arrival: ObjectArrival { key, version, sequencer } }
}

/// The key's real name is form-encoded in a notification, and decoded here exactly once.
fn real_name(encoded: &str) -> Option<String> {
    if encoded.len() > MAX_KEY_BYTES * 3 {
        return None;
    }
    // Blanks first: a `+` that a key really has arrives as `%2B`.
    let spaced = encoded.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

fn object_key(encoded: &str) -> Option<ObjectKey> {
    real_name(encoded)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TENANT: &str = "01980000-0000-7000-8000-0000000000a1";
    const FILE: &str = "01980000-0000-7000-8000-0000000000f1";
    const JOB: &str = "01980000-0000-7000-8000-0000000000b1";

    fn arrivals(body: &str) -> Vec<ObjectArrival> {
        let Incoming::Objects(events) = decode(body) else { panic!("{body}") };
        let arrived = |event| match event {
            ObjectEvent::Arrived { scope, arrival } => {
                assert_eq!(scope.tenant(), arrival.key.tenant);
                Some(arrival)
            }
            ObjectEvent::Removed | ObjectEvent::Unexpected => None,
        };
        events.into_iter().filter_map(arrived).collect()
    }

    fn notification(event: &str, key: &str) -> String {
        let object = json!({"key": key, "versionId": "v1", "sequencer": "0055AED6DCD90281E5"});
        json!({"Records": [{"eventName": event, "s3": {"object": object}}]}).to_string()
    }

    /// Cases C01 and E1.
    #[test]
    fn key_is_decoded_exactly_once() {
        for (encoded, real) in [
            ("acme/legal/a+b+%2B+c+%D9%81%D8%A7%D8%B1%D8%B3%DB%8C.txt", Some("acme/legal/a b + c فارسی.txt")),
            ("100%2525.txt", Some("100%25.txt")),
            ("tenants/t1/space+plus%2Btest+%281%29.txt", Some("tenants/t1/space plus+test (1).txt")),
            ("%FF", None),
        ] {
            assert_eq!(real_name(encoded).as_deref(), real, "{encoded}");
        }
    }

    #[test]
    fn recorded_creation_names_tenant_file_version_and_order() {
        let found = arrivals(include_str!("../../../events/s3-object-created.json"));
        let key = format!("uploads/{TENANT}/{FILE}/1").parse().unwrap();
        let version = Some(VersionId::new("096fKKXTRTtl3on89fVO.nfljtsv6qko").unwrap());
        let sequencer = Some(Sequencer::new("0055AED6DCD90281E5").unwrap());
        assert_eq!(found, [ObjectArrival { key, version, sequencer }]);
    }

    #[test]
    fn recorded_test_event_and_removal_start_nothing() {
        assert_eq!(decode(include_str!("../../../events/s3-test-event.json")), Incoming::TestEvent);
        let removed = decode(include_str!("../../../events/s3-object-removed.json"));
        assert_eq!(removed, Incoming::Objects(vec![ObjectEvent::Removed]));
    }

    #[test]
    fn key_of_another_form_is_unexpected_whatever_happened_to_it() {
        let upload = format!("uploads/{TENANT}/{FILE}/1");
        for key in ["uploads/x", "inbox/a/b/c.txt", "", &format!("{upload}%2Fx"), &upload.to_uppercase(), "%FF"] {
            let decoded = decode(&notification("ObjectCreated:Put", key));
            assert_eq!(decoded, Incoming::Objects(vec![ObjectEvent::Unexpected]), "{key}");
        }
        for key in [upload.clone(), upload.replace('/', "%2F")] {
            for event in ["ObjectCreated:Put", "ObjectCreated:CompleteMultipartUpload", "s3:ObjectCreated:Copy"] {
                assert_eq!(arrivals(&notification(event, &key)).len(), 1, "{event} {key}");
            }
        }
    }

    #[test]
    fn sequencer_or_version_that_is_none_is_left_out() {
        let key = format!("uploads/{TENANT}/{FILE}/1");
        for object in [json!({"key": key}), json!({"key": key, "versionId": "", "sequencer": "no hex"})] {
            let body = json!({"Records": [{"eventName": "ObjectCreated:Put", "s3": {"object": object}}]}).to_string();
            let found = arrivals(&body);
            assert_eq!((&found[0].version, &found[0].sequencer), (&None, &None));
        }
    }

    #[test]
    fn own_message_reads_back_and_a_foreign_field_breaks_it() {
        let message = json!({"anchorage": {"type": "run_job", "tenant_id": TENANT, "file_id": FILE, "job_id": JOB}});
        let Incoming::Run { scope, file, job } = decode(&message.to_string()) else { panic!("not a run") };
        assert_eq!(
            (scope.tenant().to_string(), file.to_string(), job.to_string()),
            (TENANT.into(), FILE.into(), JOB.into())
        );
        let mut foreign = message;
        foreign["anchorage"]["content"] = json!("text");
        assert_eq!(decode(&foreign.to_string()), Incoming::Malformed(Malformed::BrokenMessage));
    }

    /// Case E13: what can never succeed is known as such at once. An event bus has another shape, and other encoding.
    #[test]
    fn body_that_is_not_understood_is_malformed() {
        let bridge = json!({"detail-type": "Object Created", "detail": {"object": {"key": "a+b"}}}).to_string();
        for (body, expected) in [
            ("", Malformed::NotJson),
            ("{", Malformed::NotJson),
            ("null", Malformed::UnknownShape),
            ("[]", Malformed::UnknownShape),
            ("{}", Malformed::UnknownShape),
            (bridge.as_str(), Malformed::UnknownShape),
            (r#"{"Event":"s3:Other"}"#, Malformed::UnknownShape),
            (r#"{"Records":{}}"#, Malformed::BrokenNotification),
            (r#"{"Records":[{"eventName":"ObjectCreated:Put"}]}"#, Malformed::BrokenNotification),
            (r#"{"anchorage":{"type":"other"}}"#, Malformed::BrokenMessage),
        ] {
            assert_eq!(decode(body), Incoming::Malformed(expected), "{body}");
        }
    }
}
