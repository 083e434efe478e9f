// What the picture shows; the build script makes a Rust struct of it.

#ifndef VIEW_H
#define VIEW_H

struct view {
    float2 center;
    float width; // of the plane that is seen
    uint columns;
    uint rows;
};

#endif
