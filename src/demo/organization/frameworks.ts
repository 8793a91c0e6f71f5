/**
 * A control of a framework. The numbers are those of the standard, but the texts are our own words.
 */
export interface DemoControl {
	number: string;
	section: string;
	name: string;
	description?: string;
	/** Why the control does not apply. Absent if it applies. */
	excluded?: string;
}

const ORGANIZATIONAL = "A.5 Organizational controls";
const PEOPLE = "A.6 People controls";
const PHYSICAL = "A.7 Physical controls";
const TECHNICAL = "A.8 Technological controls";

export const ISO_27001 = {
	name: "ISO/IEC 27001",
	version: "2022",
	description:
		"Annex A as far as it concerns us, in our own words: the statement of applicability. The certificate covers the booking service and its operation in Rotterdam and Lisbon.",
};

const control =
	(section: string) =>
	(number: string, name: string, description?: string): DemoControl => ({
		number,
		section,
		name,
		...(description && { description }),
	});
const excluded = (
	section: string,
	number: string,
	name: string,
	why: string,
): DemoControl => ({ number, section, name, excluded: why });

const organizational = control(ORGANIZATIONAL);
const people = control(PEOPLE);
const physical = control(PHYSICAL);
const technical = control(TECHNICAL);

export const ISO_CONTROLS: readonly DemoControl[] = [
	organizational(
		"5.1",
		"Security policies are approved and known",
		"There are written policies, the management has approved them, and everybody who is concerned has read them.",
	),
	organizational("5.2", "Roles in security are assigned"),
	organizational(
		"5.3",
		"Conflicting duties are separated",
		"Nobody can carry out and approve the same sensitive step alone.",
	),
	organizational("5.4", "Managers require security of their teams"),
	organizational("5.5", "It is known which authority to call"),
	organizational(
		"5.7",
		"Threats are followed",
		"Information about current attacks is collected and used.",
	),
	organizational("5.8", "Projects consider security from the start"),
	organizational("5.9", "Assets and their owners are listed"),
	organizational("5.10", "It is said how assets may be used"),
	organizational("5.11", "Assets are returned at the end of a contract"),
	organizational("5.12", "Information is classified"),
	organizational("5.13", "Information is labelled"),
	organizational(
		"5.15",
		"Access follows business needs",
		"Rules say who may reach what, and access is refused unless it was granted.",
	),
	organizational("5.16", "Identities are managed from joining to leaving"),
	organizational("5.17", "Passwords and keys are handled safely"),
	organizational("5.18", "Access rights are granted, reviewed and removed"),
	organizational("5.19", "Risks of suppliers are managed"),
	organizational("5.20", "Contracts with suppliers require security"),
	organizational("5.22", "Services of suppliers are watched"),
	organizational("5.23", "Cloud services are chosen, used and left safely"),
	organizational("5.24", "Incident handling is prepared"),
	organizational("5.25", "Events are judged to be incidents or not"),
	organizational("5.26", "Incidents are answered as planned"),
	organizational("5.27", "Incidents are learnt from"),
	organizational("5.29", "Security holds during disruption"),
	organizational(
		"5.30",
		"Systems can be recovered in the time needed",
		"Recovery is planned from what the business needs, and tested.",
	),
	organizational("5.31", "Legal and contractual requirements are known"),
	organizational("5.33", "Records are protected and kept as long as needed"),
	organizational("5.34", "Personal data is protected"),
	organizational("5.35", "Security is reviewed by independent people"),
	people("6.2", "Contracts state duties in security"),
	people("6.3", "Everybody is trained regularly"),
	people("6.5", "Duties after the end of a contract are clear"),
	people("6.6", "Confidentiality is agreed"),
	people("6.8", "Everybody can report what looks wrong"),
	excluded(
		PHYSICAL,
		"7.4",
		"Premises are watched",
		"The offices are shared rooms without servers; the landlord runs the cameras at the entrance. Nothing of value is kept there overnight.",
	),
	physical("7.7", "Desks are clear and screens locked"),
	physical("7.8", "Equipment stands where it is protected"),
	physical("7.9", "Devices are protected outside the office"),
	excluded(
		PHYSICAL,
		"7.12",
		"Cables are protected",
		"There is no cabling of our own that carries information: offices offer internet only, production runs at the cloud provider.",
	),
	physical("7.14", "Equipment is wiped before it is given away"),
	technical(
		"8.1",
		"Devices of users are protected",
		"Information on laptops and other devices of users is protected whoever holds the device.",
	),
	technical("8.2", "Privileged access is limited"),
	technical("8.3", "Access to information is restricted"),
	technical("8.4", "Access to source code is restricted"),
	technical("8.5", "Sign-in is secure"),
	technical("8.6", "Capacity is watched and planned"),
	technical("8.7", "Malware is kept out"),
	technical("8.8", "Vulnerabilities are found and closed"),
	technical("8.9", "Configurations are set, recorded and checked"),
	technical("8.10", "Information is deleted when no longer needed"),
	technical("8.11", "Data is masked"),
	technical("8.12", "Leaks of data are prevented"),
	technical("8.13", "Backups are made and tested"),
	technical("8.14", "Systems are redundant"),
	technical("8.15", "Events are logged"),
	technical("8.16", "Systems are watched for anomalies"),
	technical("8.17", "Clocks agree"),
	technical("8.18", "Powerful tools are restricted"),
	technical("8.19", "Software is installed under control"),
	technical("8.20", "Networks are secured"),
	technical("8.21", "Network services are secured"),
	technical("8.22", "Networks are separated"),
	technical("8.24", "Cryptography is used by rules"),
	technical("8.25", "Development follows a secure process"),
	technical("8.28", "Code is written securely"),
	technical("8.29", "Security is tested before release"),
	excluded(
		TECHNICAL,
		"8.30",
		"Outsourced development is supervised",
		"All software is written by our own employees. To be included again should that change.",
	),
	technical("8.31", "Development, test and production are separate"),
	technical("8.32", "Changes are controlled"),
];

export const PROCESSOR = {
	name: "Duties as a processor",
	version: "3",
	description:
		"What hotels, as controllers, may expect of us under the General Data Protection Regulation and the processing agreement that all of them have signed.",
};

const duty = control("Processing of guest data");

export const PROCESSOR_CONTROLS: readonly DemoControl[] = [
	duty("P.1", "Data is processed on the hotel's instructions only"),
	duty("P.2", "Everybody with access is bound to confidentiality"),
	duty("P.3", "Further processors are approved and bound by contract"),
	duty("P.4", "Access to guest data is limited and recorded"),
	duty("P.5", "Transfers outside the Union have a legal basis"),
	duty("P.6", "Breaches are reported to hotels within 24 hours"),
	duty("P.7", "Data is deleted or returned at the end of the contract"),
	duty("P.8", "Hotels are helped to answer their guests"),
	duty("P.9", "A record of processing is kept"),
];
