import { agentMembers } from "./agent-members.ts";
import { evidenceMembers } from "./evidence-members.ts";
import { federationMembers } from "./federation-members.ts";
import { moneyMembers } from "./money-members.ts";
import { taskMembers } from "./task-members.ts";
import { timeMembers } from "./time-members.ts";

/** Only names that mean the same in the whole contract; other members are described in their schemas. */
const descriptions = new Map(
  [
    agentMembers,
    evidenceMembers,
    federationMembers,
    moneyMembers,
    taskMembers,
    timeMembers,
  ].flatMap((table) => Object.entries(table)),
);

/**
 * Adds to the JSON Schemas of an object's members the description that belongs to their name. One that a
 * schema has itself stays.
 */
export function describeMembers<Member extends object | boolean>(
  members: Readonly<Record<string, Member>>,
): Record<string, Member> {
  return Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, describeMember(name, schema)]),
  );
}

function describeMember<Member extends object | boolean>(name: string, schema: Member): Member {
  const description = descriptions.get(name);
  if (description === undefined || typeof schema !== "object") return schema;
  return { description, ...schema };
}
