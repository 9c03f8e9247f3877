/** Returns the way to end a freeze. After a restore the operator must first compare what the backup lacks. */
export function getUnfreezeRemedy({ restored }: { readonly restored: boolean }): string {
  return restored
    ? "compare the pending withdrawals and the peers with your records, then `agent-relay unfreeze --restored`"
    : "end it by `agent-relay unfreeze`";
}
