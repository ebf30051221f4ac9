int part_of_geometry(int x);
#define PART 12
