import { expect, test } from "vitest";
import { asSentence } from "../../console/src/api.ts";

test("a message of the server reads like the rest of the console", () => {
	expect(asSentence("the vendor has records")).toBe("The vendor has records.");
	expect(asSentence("id: has no text yet")).toBe("Has no text yet.");
	// A person sees a filter's label and never the name that tools use.
	expect(asSentence("filter.category: must have at most 200 characters")).toBe(
		"The filter “Category” must have at most 200 characters.",
	);
	expect(
		asSentence("filter.owner_id[0]: must be an id; size: is too large"),
	).toBe("The filter “Owner” must be an id; size: is too large.");
	expect(asSentence('"green" is not a color')).toBe("“green” is not a color.");
});
