//! Samplers of the device, for modules that sample with them (clspv's).
//!
//! Owns what Vulkan calls a sampler of OpenCL's. It must never know images.

use std::sync::{Mutex, PoisonError};

use ash::prelude::VkResult;
use ash::vk;
use rustc_hash::FxHashMap;

use crate::sampler::{Addressing, Filter, Sampler};

/// Those made so far: there are few that differ.
#[derive(Default)]
pub(super) struct Samplers(Mutex<FxHashMap<Sampler, vk::Sampler>>);

impl Samplers {
    /// The one that is this, or a new one.
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

    /// All of them, to be destroyed.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = vk::Sampler> {
        std::mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner)).into_values()
    }
}

/// OpenCL API 5.8 in Vulkan's words. One level, which is neither magnified nor minified differently.
fn info(sampler: Sampler) -> vk::SamplerCreateInfo<'static> {
    let filter = match sampler.filter {
        Filter::Nearest => vk::Filter::NEAREST,
        Filter::Linear => vk::Filter::LINEAR,
    };
    let addressing = match sampler.addressing {
        // What lies outside is undefined with the first.
        Addressing::None | Addressing::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        Addressing::Clamp => vk::SamplerAddressMode::CLAMP_TO_BORDER,
        Addressing::Repeat => vk::SamplerAddressMode::REPEAT,
        Addressing::MirroredRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
    };
    vk::SamplerCreateInfo::default()
        .mag_filter(filter)
        .min_filter(filter)
        .mipmap_mode(vk::SamplerMipmapMode::NEAREST)
        .address_mode_u(addressing)
        .address_mode_v(addressing)
        .address_mode_w(addressing)
        .border_color(vk::BorderColor::FLOAT_TRANSPARENT_BLACK)
        .unnormalized_coordinates(!sampler.normalized)
}
