/**
 * Returns the label of a field. For example, `owner_id` becomes `Owner`, `vendor_ids` becomes
 * `Vendors`, `website_url` becomes `Website`, and `review_interval_months` becomes `Review interval
 * (months)`.
 */
export function labelOf(name: string): string {
	const label = LABELS[name];
	if (label) return label;
	const months = /^(\w+)_months$/.exec(name)?.[1];
	if (months) return `${inWords(months)} (months)`;
	return inWords(name.replace(/_ids$/, "s").replace(/_(id|url)$/, ""));
}

/** Returns the label of a choice, such as `In progress` for `IN_PROGRESS`. */
export function choiceLabel(value: string): string {
	return inWords(value.toLowerCase());
}

/** The labels of fields whose names would not tell people what they are. */
const LABELS: Record<string, string> = {
	// Some registers call their status `state`, but people see the same word everywhere.
	state: "Status",
	verified_by_percent: "Wanted pass rate",
	// Some registers name the day differently. It is the same thing for people.
	deadline: "Due date",
	target_date: "Due date",
};

const IN_CAPITALS = new Set(["dpa", "id", "isms", "it", "url"]);
const SPELT: Record<string, string> = { todo: "to do", email: "e-mail" };

/**
 * Returns a name as words that begin with a capital letter. For example, `dpa_url` becomes `DPA
 * URL`.
 */
function inWords(name: string): string {
	const words = name
		.replace(/^non_/, "non-")
		.split("_")
		.map((word) =>
			IN_CAPITALS.has(word) ? word.toUpperCase() : (SPELT[word] ?? word),
		)
		.join(" ");
	return words.charAt(0).toUpperCase() + words.slice(1);
}
