// Compiles the variants of a kernel, each on a thread.
//
// c++ -std=c++11 -pthread variants.cpp -o variants $(pkg-config --cflags --libs kiln)

#include <kiln.h>

#include <cstdint>
#include <future>
#include <iostream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Free {
    void operator()(kiln_options *options) const { kiln_options_free(options); }
    void operator()(kiln_result *result) const { kiln_result_free(result); }
};

using Options = std::unique_ptr<kiln_options, Free>;
using Result = std::unique_ptr<kiln_result, Free>;
using Module = std::vector<std::uint32_t>;

const std::string source = R"(
kernel void sum(global const float *in, global float *out)
{
    float total = 0;
    for (int i = 0; i < WIDTH; i++)
        total += in[get_global_id(0) * WIDTH + i];
    out[get_global_id(0)] = total;
}
)";

// Options common to all variants. Threads copy them.
Options common()
{
    Options options(kiln_options_new());
    if (kiln_options_parse(options.get(), "-cl-std=CL1.2 -cl-fast-relaxed-math -Werror") != KILN_STATUS_SUCCESS)
        throw std::runtime_error(kiln_options_error(options.get()));
    return options;
}

Module compile(const kiln_options *common, int width)
{
    Options options(kiln_options_clone(common));
    kiln_options_define(options.get(), "WIDTH", std::to_string(width).c_str());
    Result result(kiln_compile(source.data(), source.size(), "sum.cl", options.get()));
    if (kiln_result_status(result.get()) != KILN_STATUS_SUCCESS)
        throw std::runtime_error(kiln_result_messages(result.get()));
    const std::uint32_t *words = kiln_result_words(result.get());
    return Module(words, words + kiln_result_word_count(result.get()));
}

} // namespace

int main()
{
    const Options options = common();
    std::vector<std::future<Module>> modules;
    for (int width : {1, 2, 4, 8, 16, 8, 4, 2})
        modules.push_back(std::async(std::launch::async, compile, options.get(), width));
    std::set<Module> different;
    for (auto &module : modules)
        different.insert(module.get());
    std::cout << modules.size() << " compilations, " << different.size() << " modules\n";

    // Without WIDTH, the source has errors.
    Result result(kiln_compile(source.data(), source.size(), "sum.cl", options.get()));
    std::cout << "errors without WIDTH: " << kiln_result_error_count(result.get()) << '\n';
}
