/** Said where calls were read from the run files. */
export const copiesNote =
  'Copy, not verified: the journal of this workspace has no calls, so these come from .runs, where agents may write.';
