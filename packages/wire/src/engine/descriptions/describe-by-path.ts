import { isJsonObject, type JsonMembers } from "@agent/crypto";

/**
 * Returns a copy of a JSON Schema in which members are described by their path, the names from the root
 * joined by dots. Arrays and alternatives add nothing to a path. Members without a description here keep
 * their own.
 */
export function describeByPath(
  schema: object,
  descriptions: Readonly<Record<string, string>>,
  path = "",
): JsonMembers {
  const describeValue = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(describeValue);
    return isJsonObject(value) ? describeByPath(value, descriptions, path) : value;
  };
  const describeMember = ([name, member]: readonly [string, unknown]) => {
    const place = path === "" ? name : `${path}.${name}`;
    const description = descriptions[place];
    const described = isJsonObject(member) ? describeByPath(member, descriptions, place) : member;
    return [
      name,
      isJsonObject(described) && description ? { ...described, description } : described,
    ];
  };
  const keywords = Object.entries(schema).map(([keyword, value]) => [
    keyword,
    keyword === "properties" && isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).map(describeMember))
      : describeValue(value),
  ]);
  return Object.fromEntries(keywords) as JsonMembers;
}
