#ifndef BELFRY_CBUILD_H
#define BELFRY_CBUILD_H

// The commit from which a script has built this binary, with "-modified" after it if files were changed; empty if it was
// built without a script or outside of a checkout.
extern const char *const belfry_build_commit;

#endif
