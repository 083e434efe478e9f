// The part of the plane that the picture shows. The build script generates a Rust struct from it.

#ifndef VIEW_H
#define VIEW_H

struct view {
    float2 center;
    float width; // of the visible part of the plane
    uint columns;
    uint rows;
};

#endif
