//! Secrets, read once per instance from the parameter store.

use crate::aws::outage;
use anchorage_ports::{Outage, OutageKind, Service};
use aws_config::SdkConfig;
use secrecy::SecretString;

/// The decrypted value of a parameter, without the blanks that a copied secret brings along; nothing where none is named.
///
/// # Errors
/// When the parameter cannot be had, or is blank.
pub async fn secret_parameter(config: &SdkConfig, name: Option<&str>) -> Result<Option<SecretString>, Outage> {
    let Some(name) = name else { return Ok(None) };
    let answer = aws_sdk_ssm::Client::new(config).get_parameter().name(name).with_decryption(true).send().await;
    let answer = answer.map_err(|error| outage(Service::Parameters, "GetParameter", &error))?;
    match answer.parameter().and_then(|parameter| parameter.value()).map(str::trim) {
        Some(value) if !value.is_empty() => Ok(Some(SecretString::from(value))),
        _ => Err(Outage::new(Service::Parameters, OutageKind::Refused, "GetParameter: the parameter has no value")),
    }
}
