/** Orders the first call of each agent before the second one of any, and keeps the order otherwise. */
export function spreadByAgent<Call extends { readonly agent_id: string }>(
  calls: readonly Call[],
): Call[] {
  const counts = new Map<string, number>();
  return calls
    .map((call) => {
      const place = counts.get(call.agent_id) ?? 0;
      counts.set(call.agent_id, place + 1);
      return { call, place };
    })
    .toSorted((a, b) => a.place - b.place)
    .map(({ call }) => call);
}
