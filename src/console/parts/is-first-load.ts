/**
 * Returns whether one of a page's queries still waits for its first answer. A page that shows its
 * sections together does not move them one by one. A query that fails or that waits for the network
 * does not hold back the others.
 */
export function isFirstLoad(
  queries: readonly { readonly isLoading: boolean; readonly failureCount: number }[],
): boolean {
  return queries.some(({ isLoading, failureCount }) => isLoading && failureCount === 0);
}
