//! What the deployment promises, read from infra/template.yaml. Each rule is shown to fail on a template that breaks it.
#![cfg(test)]

mod template;

use serde_json::{Value, json};
use std::collections::BTreeSet;
use template::Template;

/// A rule gives a line for each break of it.
type Rule = fn(&Template) -> Vec<String>;

/// Asserts that the template keeps the rule, and that the rule notices each of the changes (JSON pointer, new value).
fn check(rule: Rule, changes: &[(&str, Value)]) {
    let template = Template::load();
    assert_eq!(rule(&template), Vec::<String>::new());
    for (pointer, value) in changes {
        let mut broken = template.clone();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = broken.0.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer} leads nowhere"));
        match parent {
            Value::Array(values) => values[name.parse::<usize>().unwrap()] = value.clone(),
            other => other[name] = value.clone(),
        }
        assert_ne!(rule(&broken), Vec::<String>::new(), "{pointer} = {value} goes unnoticed");
    }
}

/// The queue and the function of each mapping.
fn mappings(template: &Template) -> Vec<(&str, &Value, &str, &str)> {
    let all = template.all("AWS::Lambda::EventSourceMapping").into_iter();
    all.map(|(name, mapping)| {
        let properties = &mapping["Properties"];
        let queue = Template::target(&properties["EventSourceArn"]).unwrap();
        (name, properties, queue, Template::target(&properties["FunctionName"]).unwrap())
    })
    .collect()
}

#[test]
fn queue_with_a_consumer_hides_a_message_for_six_of_its_timeouts() {
    let rule = |template: &Template| {
        let mut broken = Vec::new();
        for (name, _, queue, function) in mappings(template) {
            let timeout = template.number(template.of_function(function, "Timeout")).unwrap();
            let hidden = template.number(&template.properties(queue)["VisibilityTimeout"]).unwrap_or(30);
            if hidden < 6 * timeout {
                broken.push(format!("{name}: {hidden} s, but the function may take {timeout} s"));
            }
        }
        broken
    };
    check(
        rule,
        &[
            ("/Resources/IngestQueue/Properties/VisibilityTimeout", json!(719)),
            ("/Parameters/IngestTimeout/Default", json!(121)),
            ("/Resources/IngestDlqFunction/Properties/Timeout", json!(31)),
        ],
    );
}

#[test]
fn queue_hands_what_fails_to_another_or_says_why_it_is_the_last() {
    let rule = |template: &Template| {
        let consumed: BTreeSet<&str> = mappings(template).iter().map(|(_, _, queue, _)| *queue).collect();
        let queues = template.all("AWS::SQS::Queue");
        let mut broken = Vec::new();
        for (name, queue) in &queues {
            let redrive = &queue["Properties"]["RedrivePolicy"];
            let letters = Template::target(&redrive["deadLetterTargetArn"]);
            let last = queue["Metadata"]["anchorage"]["final_queue"].as_str().is_some_and(|reason| !reason.is_empty());
            match letters {
                None if last && !consumed.contains(name) => {}
                None => broken.push(format!("{name} loses what fails")),
                Some(other) if !queues.iter().any(|(queue, _)| *queue == other) || other == *name => {
                    broken.push(format!("{name} hands over to {other}"));
                }
                // Deliveries that are throttled count as well (case E11).
                Some(_) if redrive["maxReceiveCount"].as_u64().is_none_or(|count| count < 5) => {
                    broken.push(format!("{name} gives up early"));
                }
                Some(_) => {}
            }
        }
        broken
    };
    check(
        rule,
        &[
            ("/Resources/IngestQueue/Properties/RedrivePolicy", Value::Null),
            ("/Resources/IngestQueue/Properties/RedrivePolicy/maxReceiveCount", json!(4)),
            ("/Resources/ParkingQueue/Metadata/anchorage/final_queue", json!("")),
            ("/Resources/IngestDlqMapping/Properties/EventSourceArn", json!({"Fn::GetAtt": "ParkingQueue.Arn"})),
        ],
    );
}

#[test]
fn mapping_reports_each_message_and_bounds_its_concurrency() {
    let rule = |template: &Template| {
        let mut broken = Vec::new();
        for (name, mapping, _, function) in mappings(template) {
            if mapping["FunctionResponseTypes"] != json!(["ReportBatchItemFailures"]) {
                broken.push(format!("{name}: one bad message takes its batch along"));
            }
            let concurrency = mapping["ScalingConfig"]["MaximumConcurrency"].as_u64().unwrap_or(0);
            let reserved = template.number(&template.properties(function)["ReservedConcurrentExecutions"]);
            if !(2..=1000).contains(&concurrency) || reserved.is_some_and(|reserved| concurrency >= reserved) {
                broken.push(format!("{name}: {concurrency} at once, reserved {reserved:?}"));
            }
        }
        broken
    };
    check(
        rule,
        &[
            ("/Resources/IngestMapping/Properties/FunctionResponseTypes", Value::Null),
            ("/Resources/IngestMapping/Properties/ScalingConfig", Value::Null),
            ("/Resources/IngestDlqMapping/Properties/ScalingConfig/MaximumConcurrency", json!(1)),
            ("/Resources/IngestFunction/Properties/ReservedConcurrentExecutions", json!(10)),
        ],
    );
}

#[test]
fn grant_with_a_wildcard_has_a_written_reason() {
    let rule = |template: &Template| {
        let (mut broken, mut unbounded) = (Vec::new(), Vec::new());
        let mut wild = BTreeSet::new();
        let mut note = |holder: &str, sid: &str| {
            wild.insert((holder.to_owned(), sid.to_owned()));
            if !has_reason(template, "wildcards", (holder, sid)) {
                broken.push(format!("{holder}/{sid} has a wildcard and no reason"));
            }
        };
        for grant in template.grants() {
            if grant.actions.iter().any(|action| action.contains('*'))
                || grant.resources.iter().any(|resource| resource.contains('*'))
            {
                note(grant.holder, grant.sid);
            }
        }
        for (name, permission) in template.all("AWS::Lambda::Permission") {
            match permission["Properties"]["SourceArn"]["Fn::Sub"].as_str() {
                Some(arn) if arn.contains('*') => note(name, "SourceArn"),
                Some(_) => {}
                None => unbounded.push(format!("{name} lets any API in")),
            }
        }
        // What is not there needs no reason.
        for (name, resource) in template.0["Resources"].as_object().unwrap() {
            for sid in resource["Metadata"]["anchorage"]["wildcards"].as_object().into_iter().flat_map(|map| map.keys())
            {
                if !wild.contains(&(name.clone(), sid.clone())) {
                    broken.push(format!("{name}/{sid} gives a reason for a wildcard it has not"));
                }
            }
            // Policies of others are not read here.
            if !resource["Properties"]["ManagedPolicyArns"].is_null() {
                broken.push(format!("{name} takes over a policy that is not written out"));
            }
        }
        broken.append(&mut unbounded);
        broken
    };
    let statements = "/Resources/DomainsRole/Properties/Policies/0/PolicyDocument/Statement/1";
    check(
        rule,
        &[
            (&format!("{statements}/Action"), json!("dynamodb:*")),
            (&format!("{statements}/Action"), json!(["dynamodb:GetItem", "dynamodb:Put*"])),
            (&format!("{statements}/Resource"), json!("*")),
            ("/Resources/UploadUrlRole/Metadata/anchorage/wildcards/SignUploads", json!("")),
            ("/Resources/UploadUrlRole/Metadata/anchorage/wildcards/Gone", json!("There was one once")),
            ("/Resources/HealthPermission/Properties/SourceArn", Value::Null),
            (
                "/Resources/HealthRole/Properties/ManagedPolicyArns",
                json!(["arn:aws:iam::aws:policy/AdministratorAccess"]),
            ),
        ],
    );
}

/// Whether the holder of a grant says in its metadata why the grant has to be.
fn has_reason(template: &Template, of: &str, (holder, sid): (&str, &str)) -> bool {
    let reason = template.0["Resources"][holder]["Metadata"]["anchorage"][of][sid].as_str();
    reason.is_some_and(|reason| reason.split_whitespace().count() >= 3)
}

/// Whether a grant's resource covers keys under a prefix of the bucket.
fn covers(resource: &str, prefix: &str) -> bool {
    let keys = resource.strip_prefix("${Bucket.Arn}/").map(|keys| keys.split('*').next().unwrap_or_default());
    let bounded = keys.is_some_and(|keys| !keys.starts_with(prefix) && !prefix.starts_with(keys));
    // What is not a key of this bucket at all, such as the table, covers nothing; a bare wildcard covers everything.
    resource.starts_with('*') || (resource.contains("Bucket") && resource.contains('/') && !bounded)
}

/// Case E10: what a function writes where it is triggered comes back to it for ever.
#[test]
fn function_writes_nothing_where_it_is_triggered() {
    let rule = |template: &Template| {
        let mut broken = Vec::new();
        for (_, bucket) in template.all("AWS::S3::Bucket") {
            let notifications = bucket.pointer("/Properties/NotificationConfiguration/QueueConfigurations");
            for notification in notifications.and_then(Value::as_array).into_iter().flatten() {
                let event = notification["Event"].as_str().unwrap();
                let verbs: &[&str] = if event.starts_with("s3:ObjectCreated:") {
                    &["s3:Put", "s3:Restore", "s3:Replicate", "s3:*"]
                } else {
                    &["s3:Delete", "s3:*"]
                };
                let prefix = notification.pointer("/Filter/S3Key/Rules/0/Value").and_then(Value::as_str).unwrap_or("");
                let queue = Template::target(&notification["Queue"]).unwrap();
                for (_, _, _, function) in mappings(template).into_iter().filter(|mapping| mapping.2 == queue) {
                    for grant in template.grants_of(function) {
                        let writes = |action: &str| action == "*" || verbs.iter().any(|verb| action.starts_with(verb));
                        let there = grant.resources.iter().any(|resource| covers(resource, prefix));
                        if there && grant.actions.iter().any(|action| writes(action)) {
                            broken.push(format!("{function}/{} causes {event} under {prefix}", grant.sid));
                        }
                    }
                }
            }
        }
        for (_, _, queue, function) in mappings(template) {
            for grant in template.grants_of(function) {
                let own = grant.resources.iter().any(|resource| resource.contains(queue) || resource == "*");
                let sends = grant.actions.iter().any(|action| ["*", "sqs:*", "sqs:SendMessage"].contains(action));
                if own && sends && !has_reason(template, "loops", (grant.holder, grant.sid)) {
                    broken.push(format!("{function}/{} sends to the queue that wakes it", grant.sid));
                }
            }
        }
        broken
    };
    let statements = "/Resources/IngestRole/Properties/Policies/0/PolicyDocument/Statement";
    let grant =
        |action: &str, resource: Value| json!({"Sid": "X", "Effect": "Allow", "Action": action, "Resource": resource});
    let sub = |text: &str| json!({"Fn::Sub": text});
    check(
        rule,
        &[
            (&format!("{statements}/2"), grant("s3:PutObject", sub("${Bucket.Arn}/uploads/*"))),
            (&format!("{statements}/2"), grant("s3:PutObject", sub("${Bucket.Arn}/uploads/derived/*"))),
            (&format!("{statements}/2"), grant("s3:*", sub("${Bucket.Arn}/*"))),
            (&format!("{statements}/2"), grant("s3:DeleteObject", sub("${Bucket.Arn}/inbox/*"))),
            (&format!("{statements}/2"), grant("s3:PutObject", json!("*"))),
            (&format!("{statements}/2"), grant("sqs:SendMessage", json!({"Fn::GetAtt": "IngestQueue.Arn"}))),
            ("/Resources/IngestRole/Metadata/anchorage/loops/ContinueJobs", json!("")),
        ],
    );
}

#[test]
fn secrets_are_named_and_never_shown() {
    const MARKS: [&str; 5] = ["key", "secret", "password", "token", "credential"];
    let rule = |template: &Template| {
        let mut broken = Vec::new();
        for (name, parameter) in template.0["Parameters"].as_object().unwrap() {
            let secret = MARKS.iter().any(|mark| name.to_lowercase().contains(mark));
            if secret && !(name.ends_with("Parameter") && parameter["AllowedPattern"].as_str().is_some()) {
                broken.push(format!("the parameter {name} takes a secret, not the name of one"));
            }
        }
        for (function, _) in template.all("AWS::Serverless::Function") {
            for (name, value) in template.properties(function)["Environment"]["Variables"].as_object().unwrap() {
                let secret = MARKS.iter().any(|mark| name.to_lowercase().contains(mark));
                if secret && !name.ends_with("_PARAMETER") {
                    broken.push(format!("{function} has {name} in its environment"));
                }
                if value.to_string().contains("resolve:") {
                    broken.push(format!("{function} has a secret resolved into {name}"));
                }
            }
        }
        broken
    };
    check(
        rule,
        &[
            ("/Parameters/QdrantApiKey", json!({"Type": "String", "NoEcho": true})),
            ("/Resources/PointsFunction/Properties/Environment/Variables/ANCHORAGE_QDRANT_API_KEY", json!("x")),
            (
                "/Resources/PointsFunction/Properties/Environment/Variables/ANCHORAGE_COLLECTION",
                json!("{{resolve:ssm-secure:/key}}"),
            ),
        ],
    );
}

#[test]
fn function_has_a_role_a_log_with_an_end_and_a_time_that_its_caller_waits_for() {
    let rule = |template: &Template| {
        let mut broken = Vec::new();
        let mut roles = BTreeSet::new();
        let behind_the_api: BTreeSet<_> = template
            .all("AWS::ApiGatewayV2::Integration")
            .iter()
            .map(|(_, integration)| Template::target(&integration["Properties"]["IntegrationUri"]).unwrap().to_owned())
            .collect();
        for (name, function) in template.all("AWS::Serverless::Function") {
            let properties = &function["Properties"];
            if !Template::target(&properties["Role"]).is_some_and(|role| roles.insert(role.to_owned())) {
                broken.push(format!("{name} has no role of its own"));
            }
            let logs = Template::target(&properties["LoggingConfig"]["LogGroup"]).unwrap_or_default();
            if template.number(&template.properties(logs)["RetentionInDays"]).is_none() {
                broken.push(format!("{name} logs for ever"));
            }
            let timeout = template.number(template.of_function(name, "Timeout")).unwrap();
            // The gateway answers for a function after 30 seconds, whatever it does.
            if behind_the_api.contains(name) && timeout > 29 {
                broken.push(format!("{name} may work after its caller has gone"));
            }
        }
        broken
    };
    check(
        rule,
        &[
            ("/Resources/PointsFunction/Properties/Role", json!({"Fn::GetAtt": "RagQueryRole.Arn"})),
            ("/Resources/PointsFunction/Properties/Timeout", json!(30)),
            ("/Resources/PointsLogs/Properties/RetentionInDays", Value::Null),
        ],
    );
}

#[test]
fn route_is_there_for_each_operation_of_the_description_and_asks_for_a_key_when_it_says_so() {
    let rule = |template: &Template| {
        let description: Value = serde_json::from_str(include_str!("../../docs/openapi.json")).unwrap();
        let mut described = BTreeSet::new();
        for (path, operations) in description["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                let key = if operation["security"].is_array() { "CUSTOM" } else { "NONE" };
                described.insert(format!("{} {path} {key}", method.to_uppercase()));
            }
        }
        let routes = template.all("AWS::ApiGatewayV2::Route").into_iter().map(|(_, route)| &route["Properties"]);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let routes: BTreeSet<_> =
            routes.map(|route| format!("{} {}", text(&route["RouteKey"]), text(&route["AuthorizationType"]))).collect();
        routes.symmetric_difference(&described).cloned().collect()
    };
    check(
        rule,
        &[
            ("/Resources/GetPointRoute/Properties/RouteKey", json!("GET /v1/point/{id}")),
            ("/Resources/GetPointRoute/Properties/AuthorizationType", json!("NONE")),
            ("/Resources/ReadyzRoute/Properties/AuthorizationType", json!("CUSTOM")),
        ],
    );
}

#[test]
fn api_asks_the_authorizer_by_one_header_and_is_throttled() {
    let rule = |template: &Template| {
        let expected = [
            ("/Resources/Authorizer/Properties/IdentitySource", json!(["$request.header.x-api-key"])),
            ("/Resources/Authorizer/Properties/AuthorizerResultTtlInSeconds", json!(60)),
            ("/Resources/Authorizer/Properties/EnableSimpleResponses", json!(true)),
            ("/Resources/Authorizer/Properties/AuthorizerPayloadFormatVersion", json!("2.0")),
            ("/Resources/ApiStage/Properties/DefaultRouteSettings/ThrottlingRateLimit", json!({"Ref": "ThrottleRate"})),
            (
                "/Resources/ApiStage/Properties/DefaultRouteSettings/ThrottlingBurstLimit",
                json!({"Ref": "ThrottleBurst"}),
            ),
        ];
        differences(template, &expected)
    };
    check(rule, &[("/Resources/Authorizer/Properties/AuthorizerResultTtlInSeconds", json!(0))]);
}

#[test]
fn stores_are_kept_and_closed_to_the_public() {
    let rule = |template: &Template| {
        let expected = [
            ("/Resources/Table/DeletionPolicy", json!("Retain")),
            ("/Resources/Table/Properties/BillingMode", json!("PAY_PER_REQUEST")),
            ("/Resources/Table/Properties/PointInTimeRecoverySpecification/PointInTimeRecoveryEnabled", json!(true)),
            ("/Resources/Table/Properties/TimeToLiveSpecification/AttributeName", json!("expires_at")),
            ("/Resources/Bucket/DeletionPolicy", json!("Retain")),
            ("/Resources/Bucket/Properties/VersioningConfiguration/Status", json!("Enabled")),
            ("/Resources/Bucket/Properties/PublicAccessBlockConfiguration/BlockPublicAcls", json!(true)),
            ("/Resources/Bucket/Properties/PublicAccessBlockConfiguration/BlockPublicPolicy", json!(true)),
            ("/Resources/Bucket/Properties/PublicAccessBlockConfiguration/IgnorePublicAcls", json!(true)),
            ("/Resources/Bucket/Properties/PublicAccessBlockConfiguration/RestrictPublicBuckets", json!(true)),
        ];
        let mut broken = differences(template, &expected);
        let mut policies = template.all("AWS::SQS::QueuePolicy");
        policies.extend(template.all("AWS::S3::BucketPolicy"));
        let closed: BTreeSet<_> = policies
            .iter()
            .filter(|(_, policy)| {
                let statements = policy.pointer("/Properties/PolicyDocument/Statement").and_then(Value::as_array);
                statements.into_iter().flatten().any(|statement| {
                    let plain = &statement["Condition"]["Bool"]["aws:SecureTransport"];
                    statement["Effect"] == "Deny" && statement["Principal"] == "*" && plain == "false"
                })
            })
            .filter_map(|(_, policy)| {
                let properties = &policy["Properties"];
                Template::target(&properties["Bucket"]).or_else(|| Template::target(&properties["Queues"][0]))
            })
            .collect();
        let stores = template.all("AWS::SQS::Queue").into_iter().chain(template.all("AWS::S3::Bucket"));
        broken.extend(
            stores.filter(|(name, _)| !closed.contains(name)).map(|(name, _)| format!("{name} takes plain HTTP")),
        );
        broken
    };
    check(
        rule,
        &[
            ("/Resources/Table/DeletionPolicy", json!("Delete")),
            ("/Resources/Bucket/Properties/VersioningConfiguration/Status", json!("Suspended")),
            ("/Resources/BucketPolicy/Properties/PolicyDocument/Statement/0/Effect", json!("Allow")),
            ("/Resources/ParkingQueuePolicy/Properties/Queues", json!([{"Ref": "IngestQueue"}])),
        ],
    );
}

fn differences(template: &Template, expected: &[(&str, Value)]) -> Vec<String> {
    let actual = |pointer: &str| template.0.pointer(pointer).cloned().unwrap_or_default();
    let differing = expected.iter().filter(|(pointer, value)| actual(pointer) != *value);
    differing.map(|(pointer, value)| format!("{pointer} is {}, not {value}", actual(pointer))).collect()
}
