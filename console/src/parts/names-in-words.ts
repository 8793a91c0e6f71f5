/** Words whose spelling differs from the one in a name. */
const SPELLINGS: Record<string, string> = {
	api: "API",
	cpu: "CPU",
	dpa: "DPA",
	email: "e-mail",
	id: "ID",
	ipv4: "IPv4",
	ipv6: "IPv6",
	isms: "ISMS",
	it: "IT",
	os: "OS",
	saml: "SAML",
	scim: "SCIM",
	ssh: "SSH",
	todo: "to do",
	url: "URL",
	uuid: "UUID",
};

/**
 * Returns a name from the code as people write it. For example, `revokeApiToken` becomes "Revoke
 * API token", and `PARTIALLY_COMPLIANT` becomes "Partially compliant". A text that is not such a
 * name is returned unchanged.
 */
export function inWords(name: string): string {
	if (!/^[A-Za-z][A-Za-z0-9_ ]*$/.test(name)) return name;
	const words = name
		.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
		.replaceAll("_", " ")
		.toLowerCase()
		.replace(/\btwo factor\b/, "two-factor")
		.replace(/^non (?=compliant|conform)/, "non-")
		.split(" ")
		.map((word) => SPELLINGS[word] ?? word)
		.join(" ");
	return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Kinds of records for which people use another word than the name in the code. */
const NOUNS: Record<string, string> = {
	api_token: "API token",
	datum: "data type",
	people: "person",
};

/**
 * Returns the noun for a record of this kind, for example "continual improvement" for
 * `continual_improvement`.
 */
export function nounOf(kind: string): string {
	return NOUNS[kind] ?? kind.replaceAll("_", " ");
}
