//! Device samplers.
//!
//! Owns the mapping from OpenCL to Vulkan samplers. Must not depend on images.

use std::sync::{Mutex, PoisonError};

use ash::prelude::VkResult;
use ash::vk;
use rustc_hash::FxHashMap;

use crate::sampler::{Addressing, Filter, LevelFilter, Sampler};

/// The samplers created so far. Few distinct ones exist.
#[derive(Default)]
pub(super) struct Samplers(Mutex<FxHashMap<Sampler, vk::Sampler>>);

impl Samplers {
    /// Returns the sampler, creating it on first use.
    pub(super) fn get(
        &self,
        sampler: Sampler,
        make: impl FnOnce(&vk::SamplerCreateInfo<'_>) -> VkResult<vk::Sampler>,
    ) -> VkResult<vk::Sampler> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(raw) = made.get(&sampler) {
            return Ok(*raw);
        }
        let raw = make(&info(sampler))?;
        made.insert(sampler, raw);
        Ok(raw)
    }

    /// Removes all samplers, for destruction.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = vk::Sampler> {
        std::mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner)).into_values()
    }
}

/// Maps OpenCL API 5.8 to Vulkan, with the same filter for magnification and minification.
fn info(sampler: Sampler) -> vk::SamplerCreateInfo<'static> {
    let filter = match sampler.filter {
        Filter::Nearest => vk::Filter::NEAREST,
        Filter::Linear => vk::Filter::LINEAR,
    };
    let between = match sampler.levels.filter {
        Filter::Nearest => vk::SamplerMipmapMode::NEAREST,
        Filter::Linear => vk::SamplerMipmapMode::LINEAR,
    };
    let addressing = match sampler.addressing {
        // With `None`, coordinates outside the image are undefined.
        Addressing::None | Addressing::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        Addressing::Clamp => vk::SamplerAddressMode::CLAMP_TO_BORDER,
        Addressing::Repeat => vk::SamplerAddressMode::REPEAT,
        Addressing::MirroredRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
    };
    // Vulkan demands this of unnormalized coordinates.
    let (between, levels) = match sampler.normalized {
        true => (between, sampler.levels),
        false => (vk::SamplerMipmapMode::NEAREST, LevelFilter::new(Filter::Nearest, 0.0, 0.0)),
    };
    vk::SamplerCreateInfo::default()
        .mag_filter(filter)
        .min_filter(filter)
        .mipmap_mode(between)
        .min_lod(levels.min_lod())
        .max_lod(levels.max_lod())
        .address_mode_u(addressing)
        .address_mode_v(addressing)
        .address_mode_w(addressing)
        .border_color(vk::BorderColor::FLOAT_TRANSPARENT_BLACK)
        .unnormalized_coordinates(!sampler.normalized)
}
