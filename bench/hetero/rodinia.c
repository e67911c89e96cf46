#include "rodinia.h"

const struct hetero_program hetero_rodinia[] = {
    {"backprop", "a step of training a neural network", "inputs", 4096, 16, 1 << 20, backprop},
    {"bfs", "distances in a graph, level by level", "nodes", 8192, 2, 1 << 24, bfs},
    {"hotspot", "heat of a chip", "rows and columns", 128, 16, 8192, hotspot},
    {"kmeans", "clusters of points", "points", 4096, 16, 1 << 22, kmeans},
    {"lud", "LU decomposition", "rows and columns", 96, 16, 2048, lud},
    {"nn", "nearest neighbours", "records", 16384, 16, 1 << 24, nn},
    {"nw", "alignment of two sequences", "letters", 160, 32, 8192, nw},
    {"pathfinder", "the cheapest way down a grid", "columns", 4096, 16, 1 << 22, pathfinder},
    {"srad", "speckles removed from an image", "rows and columns", 64, 16, 4096, srad},
    {.name = NULL},
};
