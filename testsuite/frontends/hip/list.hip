// --arg buf:int[64]=iota --arg buf:int[64] --check 1[0..5]=0,0,1,3,6
#include "hip.h"

struct Node {
    int value;
    Node *next;
};

// The sum of a linked list in the thread's own memory.
extern "C" __global__ void k(const int *in, int *out) {
    Node nodes[8];
    Node *head = nullptr;
    int count = in[threadIdx.x] < 8 ? in[threadIdx.x] : 8;
    for (int i = 0; i < count; ++i) {
        nodes[i] = {i, head};
        head = &nodes[i];
    }
    int sum = 0;
    for (Node *node = head; node; node = node->next) sum += node->value;
    out[threadIdx.x] = sum;
}
