import { type StarterFramework, section } from "../shape.ts";

/** Duties of a controller in the General Data Protection Regulation, in short. */
export const GDPR: StarterFramework = {
	key: "gdpr",
	name: "GDPR",
	version: "2016/679",
	description:
		"Protection of personal data in the European Union: the duties of a controller, in short. The regulation itself is free to read.",
	controls: [
		...section("Principles", [
			[
				"Art. 5",
				"Processing follows the principles",
				"records-of-processing retention",
			],
			["Art. 6", "Processing has a legal basis", "records-of-processing"],
			[
				"Art. 9",
				"Special categories have extra protection",
				"records-of-processing",
			],
		]),
		...section("Rights of data subjects", [
			[
				"Art. 12–14",
				"People are told what happens to their data",
				"privacy-requests",
			],
			["Art. 15", "People get access to their data", "privacy-requests"],
			[
				"Art. 16–18",
				"Data is corrected, deleted or restricted",
				"privacy-requests retention",
			],
			["Art. 20", "People can take their data along", "privacy-requests"],
			["Art. 21", "Objections are respected", "privacy-requests"],
		]),
		...section("Duties of the controller", [
			["Art. 24", "Responsibility can be shown", "policies internal-audit"],
			["Art. 25", "Privacy is part of the design", "secure-development"],
			["Art. 28", "Processors are bound by contract", "vendor-review"],
			["Art. 30", "Processing is recorded", "records-of-processing"],
			[
				"Art. 32",
				"Processing is secure",
				"encryption least-privilege backups device-baseline",
			],
			["Art. 33", "Breaches are reported within 72 hours", "incident-response"],
			["Art. 34", "People are told of serious breaches", "incident-response"],
			["Art. 35", "High risks are assessed beforehand", "risk-review"],
			["Art. 37", "A data protection officer is named where required", "roles"],
			["Art. 44–46", "Transfers abroad have safeguards", "vendor-review"],
		]),
	],
};
