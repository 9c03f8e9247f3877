import type { BundlePosting } from "@agent/verify";
import { sumPostings } from "./verifying/artifact-parts.ts";
import { showDollars, showLine, toMicroUnits } from "../shared/format/show-text.ts";

/** The movement of money that settled the task; its amounts must add up to zero. */
export function PostingsTable({ postings }: { postings: readonly BundlePosting[] }) {
  if (postings.length === 0) return null;
  const sum = sumPostings(postings);
  return (
    <section>
      <h3>Money, as the relay states it</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="Postings">
        <table>
          <thead>
            <tr>
              <th scope="col">account</th>
              <th scope="col">movement</th>
              <th scope="col" class="number">
                amount
              </th>
            </tr>
          </thead>
          <tbody>
            {postings.map(({ account, type, amount }, index) => (
              <tr key={index}>
                <td title={showLine(account)}>{shortenAccount(account)}</td>
                <td>{showLine(type, 60).replaceAll("_", " ")}</td>
                <td class="number">{showDollars(toMicroUnits(amount))}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr class={sum === 0 ? "holds" : "fails"}>
              <th scope="row" colSpan={2}>
                {sum === 0 ? "✓ they add up to zero" : "✗ they do not add up to zero"}
              </th>
              <td class="number">{showDollars(sum)}</td>
            </tr>
          </tfoot>
        </table>
      </div>
    </section>
  );
}

function shortenAccount(account: string): string {
  const [owner = "", id = ""] = account.split(":");
  return id.length > 12
    ? `${showLine(owner, 20)} …${showLine(id.slice(-8))}`
    : showLine(account, 40);
}
