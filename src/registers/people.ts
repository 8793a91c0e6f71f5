import { z } from "zod";
import { findReservedAddresses } from "../organizations/reserved-addresses.ts";
import { findSecondPeople } from "../organizations/second-people.ts";
import { TODAY } from "../organizations/time-zone.ts";
import { orInfinity } from "../records/date-or-infinity.ts";
import {
	datesInOrder,
	emails,
	optionalDate,
	optionalName,
	requiredChoice,
	requiredEmail,
	requiredName,
} from "../records/field.ts";
import { recordKind } from "../records/kind.ts";
import { byText } from "../records/list-pages.ts";

const HAS_CONTRACT = `${orInfinity("contract_end_date", "date")} >= ${TODAY}`;

export const people = recordKind({
	kind: "people",
	table: "people",
	tool: { one: "People", many: "People" },
	key: { one: "people", many: "people" },
	noun: "person",
	nouns: "people",
	help: "People own records and devices. A person may or may not be a user of Assay.",
	description: "People own records and devices.",
	title: "full_name",
	beside: ["primary_email_address"],
	fields: {
		full_name: requiredName("First and last name"),
		primary_email_address: requiredEmail("E-mail address"),
		additional_email_addresses: emails("Further e-mail addresses"),
		kind: requiredChoice(
			["EMPLOYEE", "CONTRACTOR", "SERVICE_ACCOUNT"],
			"Relation to the organization",
		),
		position: optionalName("Job title"),
		contract_start_date: optionalDate("First day of the contract"),
		contract_end_date: optionalDate("Last day of the contract"),
	},
	brief: [
		"full_name",
		"primary_email_address",
		"kind",
		"position",
		"contract_end_date",
	],
	orders: {
		full_name: byText("full_name"),
		primary_email_address: byText("primary_email_address"),
	},
	filters: ["kind"],
	otherFilters: {
		exclude_contract_ended: {
			schema: z
				.boolean()
				.describe("true leaves out people whose contract ended before today"),
			sql: (parameter) => `(not ${parameter}::boolean or ${HAS_CONTRACT})`,
			flag: { true: HAS_CONTRACT, false: "true" },
		},
	},
	check: datesInOrder("contract_start_date", "contract_end_date"),
	reserved: findReservedAddresses,
	refused: findSecondPeople,
});
