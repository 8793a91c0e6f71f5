import { expect, test } from "vitest";
import { wordForms } from "../../src/records/plurals.ts";

test.for([
	["policy", ["policy", "policies"]],
	["policies", ["policie", "policy"]],
	["cookies", ["cookie", "cooky"]],
	["controls", ["control"]],
	["control", ["control"]],
	["databases", ["database"]],
	["processes", ["process"]],
	["Batches", ["Batch"]],
	["surveys", ["survey"]],
	["survey", ["survey"]],
] as const)("%s is found by %j", ([word, forms]) => {
	expect(wordForms(word)).toEqual(forms);
});

test.for([
	"access",
	"status",
	"analysis",
	"AWS",
	"news",
	"my",
	"10.9.s",
	"Étoiles",
	"",
])("%s has no other form", (word) => {
	expect(wordForms(word)).toEqual([word]);
});

test.for([
	["policy", "Policies of groups"],
	["policies", "Device policy"],
	["controls", "Control of changes"],
	["laptop", "New laptops"],
] as const)("%s begins a word of %s in one of its forms", ([word, name]) => {
	const words = name.toLowerCase().split(" ");
	const begins = (form: string) => words.some((one) => one.startsWith(form));
	expect(wordForms(word).some(begins)).toBe(true);
});
