export const ORGANIZATION = {
	name: "Harbour & Pine",
	description:
		"Booking and payment software for independent hotels. 25 people in Rotterdam and Lisbon; about 900 hotels use the service, most of them in the European Union.",
};

export type Employee = (typeof PEOPLE)[number][0];

/** The employees: key, name, job, and months since the contract began. */
export const PEOPLE = [
	["ada", "Ada Okafor", "Chief technology officer", 68],
	["jonas", "Jonas Lindqvist", "Head of security", 41],
	["mei", "Mei Tanaka", "Lead site reliability engineer", 52],
	["priya", "Priya Raman", "Head of people", 37],
	["tomas", "Tomás Rivera", "Staff engineer, bookings", 49],
	["hannah", "Hannah Weiss", "Product designer", 22],
	["samuel", "Samuel Osei", "Data engineer", 30],
	["lucia", "Lucía Ferrer", "Legal counsel and data protection officer", 44],
	["noah", "Noah Becker", "Head of customer support", 58],
	["ines", "Inês Moreau", "Head of finance", 61],
	["willem", "Willem de Groot", "Chief executive officer", 70],
	["aisha", "Aisha Bello", "Backend engineer, payments", 26],
	["marek", "Marek Nowak", "Site reliability engineer", 19],
	["sofia", "Sofia Almeida", "Frontend engineer", 33],
	["liam", "Liam Fitzgerald", "Sales lead", 47],
	["yuki", "Yuki Mori", "Mobile engineer", 15],
	["clara", "Clara Jensen", "Quality engineer", 28],
	["omar", "Omar Haddad", "IT administrator", 35],
	["elena", "Elena Petrova", "Product manager", 40],
	["david", "David Kowalczyk", "Backend engineer, bookings", 12],
	["marta", "Marta Silva", "Customer support specialist", 24],
	["jan", "Jan Verhoeven", "Field engineer, hotel front desks", 31],
	["nora", "Nora Eriksen", "Customer support specialist", 9],
	["rui", "Rui Carvalho", "Accountant", 17],
	["grace", "Grace Mensah", "Marketing manager", 20],
] as const;

/**
 * Entries of the People register that are not employees: two contractors and a service account. One
 * contractor has left.
 */
export const OTHERS = [
	{
		full_name: "Felix Brandt",
		position: "Penetration tester",
		kind: "CONTRACTOR",
		starts: -210,
		ends: 155,
	},
	{
		full_name: "Amelie Laurent",
		position: "Interim data analyst",
		kind: "CONTRACTOR",
		starts: -420,
		ends: -38,
	},
	{
		full_name: "Deployment pipeline",
		position: "Releases and database migrations",
		kind: "SERVICE_ACCOUNT",
		starts: -900,
	},
] as const;

/** Returns the e-mail address of a person, such as `tomas.rivera@example.com`. */
export function addressOf(fullName: string): string {
	const plain = fullName
		.normalize("NFD")
		.replace(/\p{M}/gu, "")
		.toLowerCase()
		.replace(/[^a-z]+/g, ".");
	return `${plain}@example.com`;
}
