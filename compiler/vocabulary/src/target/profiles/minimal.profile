# what Vulkan 1.2 with the memory model and buffer device addresses guarantees
images                             # Images
push_constant_size = 128
read_images = 16
written_images = 4
