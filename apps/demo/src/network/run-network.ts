import { all, type Check } from "../check.ts";
import { dollars, micro, percent } from "../money.ts";
import { columns, shortId } from "../report.ts";
import type { Surroundings } from "../run-to-end.ts";
import { agree, moneyOf, settledBooks, type Books } from "./books.ts";
import { assemble, deposits, type Cast } from "./cast.ts";
import { hireAbroad, type AbroadJob } from "./hire-abroad.ts";
import { judgeJob, type Proof } from "./proof.ts";

/** Paid work across three relays, the one in the middle killed in between; answers what has to be true. */
export async function runNetwork({
  dataDir,
  processes,
  print,
}: Omit<Surroundings, "signal">): Promise<Check[]> {
  const cast = await assemble(processes, dataDir);
  const { relays, editor, publisher, linguist, research, professor } = cast;
  const [alpha, beta, gamma] = relays;
  print(castLines(cast));

  const jobs = [
    await hireAbroad(editor, research, "Relays settle what agents agree on.", [alpha, beta]),
    await hireAbroad(publisher, linguist, "settling\nrelays", [gamma, beta]),
    await hireAbroad(editor, professor, "federated\nagents", [alpha, beta, gamma]),
  ];
  const crash = await beta.down();
  print(["beta was killed. The editor hires the professor behind it all the same:"]);
  const begun = hireAbroad(editor, professor, "restarted\nrelays", [alpha, beta, gamma]);
  begun.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await crash.up();
  jobs.push(await begun);
  print(["beta is up again, and the work is done.", ""]);

  const books = await settledBooks(relays);
  print([...jobLines(jobs, relays), ...bookLines(books)]);
  await processes.stop();
  const left = processes.alive();
  const proofs = jobs.map(judgeJob);
  print(proofLines(proofs));

  const paidIn = Object.values(deposits).reduce((sum, amount) => sum + micro(amount), 0);
  return [
    { claim: "Every receipt verifies offline", held: all(proofs.map(({ receipt }) => receipt)) },
    {
      claim: "Every attestation verifies offline, one for each relay on the way",
      held:
        all(proofs.flatMap(({ attestations }) => attestations)) &&
        proofs.flatMap(({ attestations }) => attestations).length === 6,
    },
    { claim: "The books of every relay are consistent", held: all(books.map((b) => b.consistent)) },
    { claim: "Every two relays agree on what is owed", held: agree(books) },
    { claim: "All money is where it was or was earned", held: moneyOf(books) === paidIn },
    { claim: "No process is left", held: left.length === 0 },
  ];
}

function castLines({ relays, editor, publisher, research, linguist, professor }: Cast): string[] {
  const [alpha, beta, gamma] = relays;
  return [
    ...columns([
      ...relays.map(({ name, url, info }) => [
        name,
        shortId(info.relay_id),
        `keeps ${percent(info.fee_rate)}, at ${url}`,
      ]),
      ["editor", shortId(editor.agentId), `hires at ${alpha.name}`],
      ["publisher", shortId(publisher.agentId), `hires at ${gamma.name}`],
      ...[research, linguist].map((one) => [
        one.name,
        shortId(one.agentId),
        `works at ${beta.name}, ${one.capability} for $${dollars(one.price)}`,
      ]),
      [
        professor.name,
        shortId(professor.agentId),
        `works at ${gamma.name}, ${professor.capability} for $${dollars(professor.price)}`,
      ],
    ]),
    "",
    `${alpha.name} and ${gamma.name} know each other only by way of ${beta.name}.`,
    "",
  ];
}

function jobLines(jobs: readonly AbroadJob[], relays: Cast["relays"]): string[] {
  const nameOf = (id: string) => relays.find(({ info }) => info.relay_id === id)?.name ?? id;
  const rows = jobs.map(({ payer, worker, attested, receipt }) => [
    payer.name,
    worker.name,
    attested.map(({ attestation }) => nameOf(attestation.relay_id)).join(", "),
    receipt.status,
    dollars(worker.price),
  ]);
  return [...columns([["pays", "works", "by way of", "receipt", "price"], ...rows], 4), ""];
}

function bookLines(books: readonly Books[]): string[] {
  const rows = books.map(({ relay, balances, fees, positions }) => [
    relay.name,
    dollars(balances),
    dollars(fees),
    ...books.map((other) => {
      const position = positions.get(other.relay.info.relay_id);
      return position === undefined ? "" : dollars(position);
    }),
  ]);
  const owes = books.map(({ relay }) => `owes ${relay.name}`);
  return [...columns([["relay", "agents hold", "fees", ...owes], ...rows], 1), ""];
}

function proofLines(proofs: readonly Proof[]): string[] {
  const word = (valid: boolean) => (valid ? "valid" : "INVALID");
  const rows = proofs.map(({ job, receipt, attestations }) => [
    `${job.worker.name} for ${job.payer.name}`,
    `receipt ${word(receipt)}`,
    ...attestations.map((valid, at) => `${job.attested[at]?.by.name ?? ""} ${word(valid)}`),
  ]);
  return [
    "All processes have ended. By the receipts and attestations alone:",
    ...columns(rows),
    "",
  ];
}
