// A Vulkan layer that makes one call fail, and counts the objects that exist. Programs open this library and call the
// functions at its end.

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

// The calls before the one that fails; negative without a failure.
static atomic_llong left = -1;
// The number of calls that could have failed.
static atomic_llong calls;
// The number of objects that exist.
static atomic_llong live;
// The function that failed, if any.
static const char *_Atomic failed;
// The result of the call that fails.
static atomic_int failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;

static VkInstance opened;
static VkDevice used;
static PFN_vkDeviceWaitIdle wait_idle;
static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;

// Whether this call fails. After the loss of a device, all later calls fail too.
static int fails(const char *name, int can_lose) {
    if (failure == VK_ERROR_DEVICE_LOST && !can_lose) {
        return 0;
    }
    calls++;
    if (left >= 0 && left-- == 0) {
        failed = name;
        if (failure == VK_ERROR_DEVICE_LOST) {
            // A lost device does not touch memory any more.
            wait_idle(used);
        }
        return 1;
    }
    return failed && failure == VK_ERROR_DEVICE_LOST;
}

static VkResult count(VkResult result) {
    live += result == VK_SUCCESS;
    return result;
}

// A function that creates an object, and the one that destroys it.
#define OBJECT(CREATE, DESTROY, INFO, OBJECT)                                                                \
    static PFN_vk##CREATE next_##CREATE;                                                                     \
    static PFN_vk##DESTROY next_##DESTROY;                                                                   \
    static VKAPI_ATTR VkResult VKAPI_CALL layer_##CREATE(VkDevice device, const INFO *info,                  \
                                                         const VkAllocationCallbacks *callbacks,             \
                                                         OBJECT *object) {                                   \
        return fails("vk" #CREATE, 0) ? failure : count(next_##CREATE(device, info, callbacks, object));                   \
    }                                                                                                        \
    static VKAPI_ATTR void VKAPI_CALL layer_##DESTROY(VkDevice device, OBJECT object,                        \
                                                      const VkAllocationCallbacks *callbacks) {              \
        live -= object != VK_NULL_HANDLE;                                                                    \
        next_##DESTROY(device, object, callbacks);                                                           \
    }

// Another function that can fail.
#define CALL(NAME, CAN_LOSE, PARAMETERS, ARGUMENTS)                                                          \
    static PFN_vk##NAME next_##NAME;                                                                         \
    static VKAPI_ATTR VkResult VKAPI_CALL layer_##NAME PARAMETERS {                                          \
        return fails("vk" #NAME, CAN_LOSE) ? failure : next_##NAME ARGUMENTS;                                            \
    }

OBJECT(AllocateMemory, FreeMemory, VkMemoryAllocateInfo, VkDeviceMemory)
OBJECT(CreateBuffer, DestroyBuffer, VkBufferCreateInfo, VkBuffer)
OBJECT(CreateBufferView, DestroyBufferView, VkBufferViewCreateInfo, VkBufferView)
OBJECT(CreateCommandPool, DestroyCommandPool, VkCommandPoolCreateInfo, VkCommandPool)
OBJECT(CreateDescriptorPool, DestroyDescriptorPool, VkDescriptorPoolCreateInfo, VkDescriptorPool)
OBJECT(CreateDescriptorSetLayout, DestroyDescriptorSetLayout, VkDescriptorSetLayoutCreateInfo,
       VkDescriptorSetLayout)
OBJECT(CreateImage, DestroyImage, VkImageCreateInfo, VkImage)
OBJECT(CreateImageView, DestroyImageView, VkImageViewCreateInfo, VkImageView)
OBJECT(CreatePipelineCache, DestroyPipelineCache, VkPipelineCacheCreateInfo, VkPipelineCache)
OBJECT(CreatePipelineLayout, DestroyPipelineLayout, VkPipelineLayoutCreateInfo, VkPipelineLayout)
OBJECT(CreateQueryPool, DestroyQueryPool, VkQueryPoolCreateInfo, VkQueryPool)
OBJECT(CreateSampler, DestroySampler, VkSamplerCreateInfo, VkSampler)
OBJECT(CreateSemaphore, DestroySemaphore, VkSemaphoreCreateInfo, VkSemaphore)
OBJECT(CreateShaderModule, DestroyShaderModule, VkShaderModuleCreateInfo, VkShaderModule)

CALL(AllocateCommandBuffers, 0,
     (VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *buffers),
     (device, info, buffers))
CALL(AllocateDescriptorSets, 0,
     (VkDevice device, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *sets),
     (device, info, sets))
CALL(BeginCommandBuffer, 0, (VkCommandBuffer commands, const VkCommandBufferBeginInfo *info),
     (commands, info))
CALL(BindBufferMemory, 0, (VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset),
     (device, buffer, memory, offset))
CALL(BindImageMemory, 0, (VkDevice device, VkImage image, VkDeviceMemory memory, VkDeviceSize offset),
     (device, image, memory, offset))
CALL(EndCommandBuffer, 0, (VkCommandBuffer commands), (commands))
CALL(GetPipelineCacheData, 0, (VkDevice device, VkPipelineCache cache, size_t *size, void *data),
     (device, cache, size, data))
CALL(GetQueryPoolResults, 1,
     (VkDevice device, VkQueryPool pool, uint32_t first, uint32_t number, size_t size, void *data,
      VkDeviceSize stride, VkQueryResultFlags flags),
     (device, pool, first, number, size, data, stride, flags))
CALL(GetSemaphoreCounterValue, 1, (VkDevice device, VkSemaphore semaphore, uint64_t *value),
     (device, semaphore, value))
CALL(MapMemory, 0,
     (VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size, VkMemoryMapFlags flags,
      void **data),
     (device, memory, offset, size, flags, data))
CALL(QueueSubmit, 1, (VkQueue queue, uint32_t number, const VkSubmitInfo *infos, VkFence fence),
     (queue, number, infos, fence))
CALL(WaitSemaphores, 1, (VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout),
     (device, info, timeout))

static PFN_vkCreateComputePipelines next_CreateComputePipelines;
static PFN_vkDestroyPipeline next_DestroyPipeline;

static VKAPI_ATTR VkResult VKAPI_CALL layer_CreateComputePipelines(
    VkDevice device, VkPipelineCache cache, uint32_t number, const VkComputePipelineCreateInfo *infos,
    const VkAllocationCallbacks *callbacks, VkPipeline *pipelines) {
    if (fails("vkCreateComputePipelines", 0)) {
        memset(pipelines, 0, number * sizeof *pipelines);
        return failure;
    }
    return count(next_CreateComputePipelines(device, cache, number, infos, callbacks, pipelines));
}

static VKAPI_ATTR void VKAPI_CALL layer_DestroyPipeline(VkDevice device, VkPipeline pipeline,
                                                        const VkAllocationCallbacks *callbacks) {
    live -= pipeline != VK_NULL_HANDLE;
    next_DestroyPipeline(device, pipeline, callbacks);
}

struct function {
    const char *name;
    PFN_vkVoidFunction replacement;
    PFN_vkVoidFunction *next;
};

#define ROW(NAME) {"vk" #NAME, (PFN_vkVoidFunction)layer_##NAME, (PFN_vkVoidFunction *)&next_##NAME}

static const struct function functions[] = {
    ROW(AllocateCommandBuffers),
    ROW(AllocateDescriptorSets),
    ROW(AllocateMemory),
    ROW(BeginCommandBuffer),
    ROW(BindBufferMemory),
    ROW(BindImageMemory),
    ROW(CreateBuffer),
    ROW(CreateBufferView),
    ROW(CreateCommandPool),
    ROW(CreateComputePipelines),
    ROW(CreateDescriptorPool),
    ROW(CreateDescriptorSetLayout),
    ROW(CreateImage),
    ROW(CreateImageView),
    ROW(CreatePipelineCache),
    ROW(CreatePipelineLayout),
    ROW(CreateQueryPool),
    ROW(CreateSampler),
    ROW(CreateSemaphore),
    ROW(CreateShaderModule),
    ROW(DestroyBuffer),
    ROW(DestroyBufferView),
    ROW(DestroyCommandPool),
    ROW(DestroyDescriptorPool),
    ROW(DestroyDescriptorSetLayout),
    ROW(DestroyImage),
    ROW(DestroyImageView),
    ROW(DestroyPipeline),
    ROW(DestroyPipelineCache),
    ROW(DestroyPipelineLayout),
    ROW(DestroyQueryPool),
    ROW(DestroySampler),
    ROW(DestroySemaphore),
    ROW(DestroyShaderModule),
    ROW(EndCommandBuffer),
    ROW(FreeMemory),
    ROW(GetPipelineCacheData),
    ROW(GetQueryPoolResults),
    ROW(GetSemaphoreCounterValue),
    ROW(MapMemory),
    ROW(QueueSubmit),
    ROW(WaitSemaphores),
};

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL layer_GetDeviceProcAddr(VkDevice device, const char *name) {
    if (!strcmp(name, "vkGetDeviceProcAddr")) {
        return (PFN_vkVoidFunction)layer_GetDeviceProcAddr;
    }
    for (size_t at = 0; at < sizeof functions / sizeof *functions; at++) {
        if (!strcmp(name, functions[at].name)) {
            return functions[at].replacement;
        }
    }
    return next_device(device, name);
}

static VKAPI_ATTR VkResult VKAPI_CALL layer_CreateDevice(VkPhysicalDevice physical,
                                                         const VkDeviceCreateInfo *info,
                                                         const VkAllocationCallbacks *callbacks,
                                                         VkDevice *device) {
    VkLayerDeviceCreateInfo *chain = (VkLayerDeviceCreateInfo *)info->pNext;
    while (chain->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO || chain->function != VK_LAYER_LINK_INFO) {
        chain = (VkLayerDeviceCreateInfo *)chain->pNext;
    }
    next_device = chain->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    PFN_vkGetInstanceProcAddr next = chain->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)next(opened, "vkCreateDevice");
    VkResult result = create(physical, info, callbacks, device);
    used = *device;
    wait_idle = (PFN_vkDeviceWaitIdle)next_device(used, "vkDeviceWaitIdle");
    for (size_t at = 0; result == VK_SUCCESS && at < sizeof functions / sizeof *functions; at++) {
        *functions[at].next = next_device(*device, functions[at].name);
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL layer_CreateInstance(const VkInstanceCreateInfo *info,
                                                           const VkAllocationCallbacks *callbacks,
                                                           VkInstance *instance) {
    VkLayerInstanceCreateInfo *chain = (VkLayerInstanceCreateInfo *)info->pNext;
    while (chain->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO ||
           chain->function != VK_LAYER_LINK_INFO) {
        chain = (VkLayerInstanceCreateInfo *)chain->pNext;
    }
    next_instance = chain->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)next_instance(NULL, "vkCreateInstance");
    VkResult result = create(info, callbacks, instance);
    opened = *instance;
    return result;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL layer_GetInstanceProcAddr(VkInstance instance,
                                                                          const char *name) {
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } own[] = {
        {"vkCreateInstance", (PFN_vkVoidFunction)layer_CreateInstance},
        {"vkCreateDevice", (PFN_vkVoidFunction)layer_CreateDevice},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)layer_GetDeviceProcAddr},
        {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)layer_GetInstanceProcAddr},
    };
    for (size_t at = 0; at < sizeof own / sizeof *own; at++) {
        if (!strcmp(name, own[at].name)) {
            return own[at].function;
        }
    }
    return next_instance(instance, name);
}

VK_LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *interface) {
    interface->loaderLayerInterfaceVersion = 2;
    interface->pfnGetInstanceProcAddr = layer_GetInstanceProcAddr;
    interface->pfnGetDeviceProcAddr = layer_GetDeviceProcAddr;
    interface->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}

// Makes the call with this number fail with this result; negative: none.
VK_LAYER_EXPORT void faults_set(long long number, int result) {
    failure = result;
    failed = NULL;
    left = number;
}

// The number of calls since the last query.
VK_LAYER_EXPORT long long faults_calls(void) { return atomic_exchange(&calls, 0); }

// The name of the function that failed, if any.
VK_LAYER_EXPORT const char *faults_failed(void) { return failed; }

// The number of objects that exist.
VK_LAYER_EXPORT long long faults_live(void) { return live; }
