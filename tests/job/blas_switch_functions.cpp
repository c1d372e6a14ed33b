// What lets a fake OpenBLAS change its core while it runs, under the names of the real one.
extern "C" {
void reload_fake_blas();
void gotoblas_dynamic_quit() {}
void gotoblas_dynamic_init() {
    reload_fake_blas();
}
}
