# what Vulkan 1.2 with the memory model and buffer device addresses guarantees
images                             # Images
push_constant_size = 128
