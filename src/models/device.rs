//! Which device the big networks run on, and whether there is room for them.
//!
//! `auto` takes what the program was built for and the machine has, and says which; anything else is meant: a device that
//! is not there is an error and never quietly the CPU. Only vision-language models leave the CPU: the others run on
//! kernels of our own that know no other. Owns nothing.

use std::fmt;
use std::fs;
use std::str::FromStr;

use candle_core::Device;
use serde::Deserialize;

use crate::seams::ModelError;

/// What the configuration asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "String")]
pub enum Choice {
    /// The best that the program was built for and that is there.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The NVIDIA GPU of this number.
    Cuda(usize),
    /// The GPU of a Mac.
    Metal,
}

impl FromStr for Choice {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "metal" => Ok(Self::Metal),
            "cuda" => Ok(Self::Cuda(0)),
            _ => {
                let number = text.strip_prefix("cuda:").and_then(|number| number.parse().ok());
                number.map(Self::Cuda).ok_or("a device is auto, cpu, cuda:N or metal")
            }
        }
    }
}

impl TryFrom<String> for Choice {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
            Self::Metal => f.write_str("metal"),
        }
    }
}

/// Why a device cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The program was built without it.
    #[error(
        "device {device} needs a program built with `--features {feature}`: build it so, or set models.device to \"cpu\""
    )]
    NotBuilt {
        /// As asked for.
        device: String,
        /// The cargo feature.
        feature: &'static str,
    },
    /// No driver, no such number, or a driver that fails.
    #[error(
        "device {device} cannot be used: {reason}; install its driver, choose another, or set models.device to \"cpu\""
    )]
    Driver {
        /// As asked for.
        device: String,
        /// What the driver said.
        reason: String,
    },
}

/// Refuses a device that this program was not built for; whether the machine has it is not asked.
pub fn built(choice: Choice) -> Result<(), DeviceError> {
    let (is_built, feature) = match choice {
        Choice::Auto | Choice::Cpu => return Ok(()),
        Choice::Cuda(_) => (candle_core::utils::cuda_is_available(), "cuda"),
        Choice::Metal => (candle_core::utils::metal_is_available(), "metal"),
    };
    if is_built { Ok(()) } else { Err(DeviceError::NotBuilt { device: choice.to_string(), feature }) }
}

/// Opens the device that `choice` means.
pub fn open(choice: Choice) -> Result<Device, DeviceError> {
    let opened = match choice {
        Choice::Cpu => Ok(Device::Cpu),
        Choice::Cuda(number) => cuda(number),
        Choice::Metal => metal(),
        Choice::Auto => Ok(best()),
    };
    if let Ok(device) = &opened {
        tracing::info!(asked = %choice, device = name(device), "vision-language models run on");
    }
    opened
}

/// The first GPU that works, else the CPU; why not a GPU is logged.
fn best() -> Device {
    let skip = |error: DeviceError| match error {
        DeviceError::NotBuilt { .. } => tracing::debug!(%error, "not considered"),
        DeviceError::Driver { .. } => tracing::warn!(%error, "auto goes on without it"),
    };
    cuda(0)
        .or_else(|error| {
            skip(error);
            metal()
        })
        .unwrap_or_else(|error| {
            skip(error);
            Device::Cpu
        })
}

fn cuda(number: usize) -> Result<Device, DeviceError> {
    built(Choice::Cuda(number))?;
    let device = Choice::Cuda(number).to_string();
    Device::new_cuda(number).map_err(|error| DeviceError::Driver { device, reason: first_line(&error.to_string()) })
}

fn metal() -> Result<Device, DeviceError> {
    built(Choice::Metal)?;
    let device = Choice::Metal.to_string();
    Device::new_metal(0).map_err(|error| DeviceError::Driver { device, reason: first_line(&error.to_string()) })
}

/// `cpu`, `cuda` or `metal`.
pub fn name(device: &Device) -> &'static str {
    match device {
        Device::Cpu => "cpu",
        Device::Cuda(_) => "cuda",
        Device::Metal(_) => "metal",
    }
}

/// Says how many bytes `model` needs on the CPU before it is loaded, and refuses if they are not there: the system would
/// end the process later without a word.
pub(super) fn announce(model: &str, bytes: u64) -> Result<(), ModelError> {
    let free = available();
    let mb = |bytes: u64| bytes / 1_000_000;
    tracing::info!(model, needed_mb = mb(bytes), available_mb = free.map(mb), "loading a model");
    match free {
        Some(free) if bytes > free => Err(ModelError::Memory {
            model: model.to_owned(),
            device: "cpu".to_owned(),
            reason: format!("{} MB are needed, {} MB are available", mb(bytes), mb(free)),
        }),
        _ => Ok(()),
    }
}

/// The error for what a runtime said: too little memory is a kind of its own.
pub(super) fn failed(model: &str, said: &str) -> ModelError {
    let lower = said.to_lowercase().replace('_', " ");
    if lower.contains("out of memory") {
        let (model, device) = (model.to_owned(), "its device".to_owned());
        return ModelError::Memory { model, device, reason: first_line(said) };
    }
    ModelError::Run { model: model.to_owned(), reason: said.to_owned() }
}

/// Drivers append a backtrace.
fn first_line(said: &str) -> String {
    said.lines().next().unwrap_or_default().to_owned()
}

/// Bytes that this process can still get, as far as the system tells: of the machine, or of its control group.
fn available() -> Option<u64> {
    let machine = memory_available(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let number = |name: &str| fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse::<u64>().ok();
    let group = number("memory.max").zip(number("memory.current")).map(|(max, used)| max.saturating_sub(used));
    Some(group.map_or(machine, |group| group.min(machine)))
}

/// `MemAvailable` of `/proc/meminfo`.
fn memory_available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_and_written() {
        for (text, choice) in [
            ("auto", Choice::Auto),
            ("cpu", Choice::Cpu),
            ("cuda:0", Choice::Cuda(0)),
            ("cuda:7", Choice::Cuda(7)),
            ("metal", Choice::Metal),
        ] {
            assert_eq!((text.parse(), choice.to_string()), (Ok(choice), text.to_owned()));
        }
        assert_eq!("cuda".parse(), Ok(Choice::Cuda(0)));
        for text in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "CPU"] {
            assert!(text.parse::<Choice>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_device_that_is_not_there_is_an_error_unless_auto() {
        assert!(matches!(open(Choice::Cpu), Ok(Device::Cpu)));
        if !candle_core::utils::cuda_is_available() {
            let error = open(Choice::Cuda(0)).expect_err("not built").to_string();
            assert!(error.contains("cuda:0") && error.contains("--features cuda"), "{error}");
        }
        if !candle_core::utils::metal_is_available() {
            let error = open(Choice::Metal).expect_err("not built").to_string();
            assert!(error.contains("--features metal"), "{error}");
        }
        open(Choice::Auto).expect("there is always a cpu");
    }

    #[test]
    fn too_little_memory_is_told_before_and_after() {
        announce("small", 1).expect("a byte is there");
        let error = announce("huge", u64::MAX).expect_err("more than any machine has");
        assert!(matches!(&error, ModelError::Memory { model, device, .. } if model == "huge" && device == "cpu"));
        for said in ["DriverError(CUDA_ERROR_OUT_OF_MEMORY, \"out of memory\")\n  0: candle", "Out of memory"] {
            let error = failed("vlm", said);
            assert!(matches!(&error, ModelError::Memory { .. }), "{error:?}");
            assert!(!error.to_string().contains("candle"), "{error}");
        }
        assert!(matches!(failed("vlm", "shape mismatch"), ModelError::Run { .. }));
        assert_eq!(memory_available("MemFree: 1 kB\nMemAvailable:   12 kB\n"), Some(12 * 1024));
        assert_eq!(memory_available("MemFree: 1 kB\n"), None);
    }
}
