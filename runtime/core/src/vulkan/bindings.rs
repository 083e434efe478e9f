//! The limits of the images, samplers and buffers that a kernel can bind.

use ash::vk;

use crate::interface::{Binding, BindingClass};

/// The largest number of buffers that a kernel of Kiln binds: the block of the arguments that do not fit into push constants.
/// Other buffers are passed as addresses.
const BUFFERS: u32 = 1;

/// The numbers of bindings that a kernel can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BindingLimits {
    /// Images that the kernel reads, including image buffers.
    pub(super) sampled: u32,
    /// Images that the kernel writes, including image buffers.
    pub(super) stored: u32,
    pub(super) samplers: u32,
    /// Images and buffers together.
    all: u32,
}

impl BindingLimits {
    /// A kernel has one shader stage, so both the per-stage limits and the per-set limits apply to it.
    pub(super) fn new(limits: &vk::PhysicalDeviceLimits) -> Self {
        let all = limits.max_per_stage_resources;
        let images = all.saturating_sub(BUFFERS);
        Self {
            sampled: limits
                .max_per_stage_descriptor_sampled_images
                .min(limits.max_descriptor_set_sampled_images)
                .min(images),
            stored: limits
                .max_per_stage_descriptor_storage_images
                .min(limits.max_descriptor_set_storage_images)
                .min(images),
            samplers: limits.max_per_stage_descriptor_samplers.min(limits.max_descriptor_set_samplers),
            all,
        }
    }

    /// The reason why a kernel cannot have these bindings, if there is one.
    pub(super) fn check(self, bindings: &[Binding]) -> Result<(), String> {
        let count = |wanted: &[BindingClass]| bindings.iter().filter(|it| wanted.contains(&it.class)).count();
        let samplers = count(&[BindingClass::Sampler]);
        for (what, count, max) in [
            (
                "images that it reads",
                count(&[BindingClass::SampledImage, BindingClass::UniformTexels]),
                self.sampled,
            ),
            (
                "images that it writes",
                count(&[BindingClass::StorageImage, BindingClass::StorageTexels]),
                self.stored,
            ),
            ("samplers", samplers, self.samplers),
            ("images and buffers", bindings.len() - samplers, self.all),
        ] {
            if count > max as usize {
                return Err(format!("binds {count} {what}, and the device supports {max}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limits that Vulkan requires, with fewer storage images in all sets than in a stage.
    fn limits() -> BindingLimits {
        BindingLimits::new(&vk::PhysicalDeviceLimits {
            max_per_stage_resources: 17,
            max_per_stage_descriptor_sampled_images: 18,
            max_descriptor_set_sampled_images: 96,
            max_per_stage_descriptor_storage_images: 4,
            max_descriptor_set_storage_images: 3,
            max_per_stage_descriptor_samplers: 2,
            max_descriptor_set_samplers: 96,
            ..Default::default()
        })
    }

    fn bindings(classes: &[(BindingClass, u32)]) -> Vec<Binding> {
        let all = classes.iter().flat_map(|&(class, count)| (0..count).map(move |_| class));
        (0..).zip(all).map(|(binding, class)| Binding { set: 0, binding, class }).collect()
    }

    #[test]
    fn the_smallest_limit_applies() {
        let limits = limits();
        assert_eq!((limits.sampled, limits.stored, limits.samplers), (16, 3, 2));
    }

    #[test]
    fn every_class_has_its_limit() {
        use BindingClass::{SampledImage, Sampler, Storage, StorageImage, StorageTexels, UniformTexels};
        let check = |classes: &[_]| limits().check(&bindings(classes));
        assert_eq!(check(&[(SampledImage, 15), (UniformTexels, 1), (Sampler, 2), (Storage, 1)]), Ok(()));
        assert_eq!(check(&[(StorageImage, 2), (StorageTexels, 1)]), Ok(()));
        let rejected = |classes: &[_], wanted: &str| assert!(check(classes).unwrap_err().contains(wanted));
        rejected(
            &[(SampledImage, 16), (UniformTexels, 1)],
            "17 images that it reads, and the device supports 16",
        );
        rejected(
            &[(StorageImage, 3), (StorageTexels, 1)],
            "4 images that it writes, and the device supports 3",
        );
        rejected(&[(Sampler, 3)], "3 samplers, and the device supports 2");
        rejected(
            &[(SampledImage, 16), (StorageImage, 1), (Storage, 1)],
            "18 images and buffers, and the device supports 17",
        );
    }
}
