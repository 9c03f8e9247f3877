/** The state in words, so that it can be understood without colours. */
export function StateWord({ state }: { state: string }) {
  return <span class={`state ${TONES[state] ?? ""}`}>{state.replaceAll("_", " ")}</span>;
}

const TONES: Readonly<Record<string, string>> = {
  completed: "good",
  active: "good",
  registered: "good",
  approved: "good",
  failed: "bad",
  denied: "bad",
  expired: "bad",
  no_show: "bad",
  revoked: "bad",
  removed: "bad",
  suspended: "doubt",
  pending: "doubt",
  passed_on: "doubt",
};
