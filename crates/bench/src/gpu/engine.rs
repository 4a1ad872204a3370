//! Finding GPU engines by their specifications.

use std::any::Any;

use anyhow::{Result, bail};
use fyke::Options;
use fyke::gpu::matcher::GpuEngine;
use fyke_core::Engine;

/// The engine of a specification, with its options.
///
/// # Errors
/// No GPU engine has this name, or an option is malformed.
pub fn engine(spec: &str) -> Result<(&'static GpuEngine, Options)> {
    let (name, params) = fyke::registry::parse(spec);
    let engines: Vec<_> = fyke::registry::engines().into_iter().filter_map(of_gpu).collect();
    let Some(engine) = engines.iter().find(|e| e.info.name == name) else {
        let names: Vec<_> = engines.iter().map(|e| e.info.name).collect();
        bail!("--engine {name}: no GPU engine has this name; choose one of {}", names.join(", "));
    };
    Ok((engine, Options::with_params(params)?))
}

fn of_gpu(engine: &'static dyn Engine) -> Option<&'static GpuEngine> {
    (engine as &dyn Any).downcast_ref()
}
