global int counter = 5;
global int *pointer = &counter; /* needs a relocation */

kernel void first(global int *a)
{
    a[get_global_id(0)] = *pointer;
}

kernel void second(global int *a)
{
    a[get_global_id(0)] += 3;
}
