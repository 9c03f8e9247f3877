import { useRef } from "preact/hooks";
import { ActButton } from "../../shared/components/act-dialog.tsx";
import { refuseLocally } from "../../shared/relay/refuse-locally.ts";
import { showMoney } from "../../shared/format/show-amount.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";

/** Credits an account. An id that no agent has is refused once, and credited if it is given again. */
export function DepositButton({ agentId }: { agentId?: string }) {
  const { relay } = usePageContext();
  const doubted = useRef<string | undefined>(undefined);
  const isKnown = async (id: string) => {
    const answer = await relay.call("listAllAgents", { query: { q: id, limit: 10 } });
    return !answer.ok || answer.body.agents.some(({ agent_id }) => agent_id === id);
  };
  return (
    <ActButton
      label="Deposit"
      question={{
        verb: "Deposit",
        title: "Deposit money",
        consequence:
          "The amount is added to the books as received by you, and the agent may spend it at once. The same reference is credited once only.",
        fields: [
          {
            name: "agent",
            label: "Id of the agent",
            ...(agentId !== undefined && { value: agentId }),
          },
          { name: "amount", label: "Amount in USD", inputMode: "decimal" },
          { name: "reference", label: "Reference of the payment that you received" },
        ],
        run: async ({ reason, fields, extras }) => {
          const id = (fields["agent"] ?? "").trim();
          const amount = Number(fields["amount"]);
          if (!(amount > 0)) return refuseLocally("`amount` must be a number above 0");
          if (doubted.current !== id && !(await isKnown(id))) {
            doubted.current = id;
            return refuseLocally(
              `No agent has the id ${id}. Press Deposit again to credit it nevertheless`,
            );
          }
          const reference = (fields["reference"] ?? "").trim().normalize();
          const body = { amount, reference, description: reason };
          return relay.call("deposit", { params: { agentId: id }, body }, extras);
        },
        describe: ({ agent_id, balance, idempotent }) =>
          idempotent
            ? "This reference was credited before. Nothing has changed."
            : `Account …${agent_id.slice(-8)} now has ${showMoney(balance)}.`,
      }}
    />
  );
}
