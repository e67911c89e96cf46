kernel void hello(global int *a)
{
    printf("a: %d, %s\n", a[get_global_id(0)], "text");
}
