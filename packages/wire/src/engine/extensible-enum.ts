import * as v from "valibot";

/** An enumeration value in an answer: one that this version knows, or one that a later version added. */
export type Extensible<Word extends string> = Word | (string & {});

/**
 * An enumeration in answers. The answering side may only use `words`; the reading side accepts any text, so
 * that a value of a later version does not make a whole list unreadable. Requests use `v.picklist`, which
 * refuses unknown values.
 */
export function extensibleEnum<const Words extends readonly string[]>(
  words: Words,
): v.GenericSchema<Words[number], Extensible<Words[number]>> {
  // JSON Schema copies the metadata unchanged.
  const schema: v.GenericSchema<string> = v.pipe(
    v.string(),
    v.metadata({ enum: words, "x-extensible": true }),
  );
  // Only the types of the two sides differ; at run time both are strings.
  return schema as v.GenericSchema<Words[number], Extensible<Words[number]>>;
}

/** Returns the values of an enumeration made by `extensibleEnum`, or null for any other schema. */
export function getEnumWords(schema: v.GenericSchema): readonly string[] | null {
  const { enum: words, "x-extensible": isExtensible } = v.getMetadata(schema);
  return isExtensible === true && Array.isArray(words) ? words.map(String) : null;
}
