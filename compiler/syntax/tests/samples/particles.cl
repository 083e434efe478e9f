// Particles in a uniform grid: hashing, sorting by cell, forces between neighbours.
typedef struct {
    float4 position;
    float4 velocity;
    uint cell;
    uint padding[3];
} Particle;

enum Border { OPEN, CLOSED = 4, PERIODIC };

constant float RADIUS = 0.5f;
constant int OFFSETS[4][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 } };

int cell_of(float4 position, int width)
{
    int2 cell = convert_int2(position.xy / (2.0f * RADIUS));
    return cell.y * width + cell.x;
}

static inline float4 push(float4 a, float4 b)
{
    float4 away = a - b;
    float distance = length(away.xyz);
    if (distance >= 2.0f * RADIUS || distance == 0.0f)
        return (float4)(0.0f);
    float strength = (2.0f * RADIUS - distance) / distance;
    return (float4)(away.xyz * strength, 0.0f);
}

kernel void hash(global Particle *particles, const int width, const uint count)
{
    const size_t i = get_global_id(0);
    if (i >= count)
        return;
    particles[i].cell = (uint)cell_of(particles[i].position, width);
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void step(global Particle *restrict particles, global const uint *restrict starts,
          int width, float dt, enum Border border)
{
    size_t i = get_global_id(0);
    Particle self = particles[i];
    float4 force = (float4)(0.0f, -9.81f, 0.0f, 0.0f);
    for (int n = 0; n < 4; n++) {
        int cell = (int)self.cell + OFFSETS[n][0] + OFFSETS[n][1] * width;
        for (uint k = starts[cell]; k < starts[cell + 1]; ++k) {
            if (k != i) {
                force += push(self.position, particles[k].position);
            }
        }
    }
    self.velocity += force * dt;
    self.position += self.velocity * dt;
    switch (border) {
    case CLOSED:
        self.position = clamp(self.position, (float4)(0.0f), (float4)(width));
        break;
    case PERIODIC: {
        float w = width;
        self.position = fmod(self.position + w, w);
        break;
    }
    default:
        break;
    }
    particles[i] = self;
}
