import {
	type Icon,
	IconAlertTriangle,
	IconBuildingStore,
	IconChecklist,
	IconClipboardCheck,
	IconDatabase,
	IconFileCertificate,
	IconFileText,
	IconGavel,
	IconPackage,
	IconPaperclip,
	IconReportSearch,
	IconShieldCheck,
	IconStack2,
	IconTrendingUp,
	IconUsers,
} from "@tabler/icons-react";

export const REGISTER_GROUPS = ["Risk", "Comply", "Inventory", "Work"] as const;

/** The registers by the groups of the navigation, in the order in which it shows them. */
export const registerKinds = [
	{ kind: "risk", group: "Risk", label: "Risks", icon: IconAlertTriangle },
	{ kind: "measure", group: "Risk", label: "Measures", icon: IconShieldCheck },
	{ kind: "framework", group: "Comply", label: "Frameworks", icon: IconStack2 },
	{ kind: "control", group: "Comply", label: "Controls", icon: IconChecklist },
	{
		kind: "obligation",
		group: "Comply",
		label: "Obligations",
		icon: IconGavel,
	},
	{
		kind: "audit",
		group: "Comply",
		label: "Audits",
		icon: IconFileCertificate,
	},
	{
		kind: "document",
		group: "Comply",
		label: "Documents",
		icon: IconFileText,
	},
	{
		kind: "evidence",
		group: "Comply",
		label: "Evidence",
		icon: IconPaperclip,
	},
	{
		kind: "vendor",
		group: "Inventory",
		label: "Vendors",
		icon: IconBuildingStore,
	},
	{ kind: "people", group: "Inventory", label: "People", icon: IconUsers },
	{ kind: "asset", group: "Inventory", label: "Assets", icon: IconPackage },
	{
		kind: "datum",
		group: "Inventory",
		label: "Data types",
		icon: IconDatabase,
	},
	{ kind: "task", group: "Work", label: "Tasks", icon: IconClipboardCheck },
	{
		kind: "nonconformity",
		group: "Work",
		label: "Nonconformities",
		icon: IconReportSearch,
	},
	{
		kind: "continual_improvement",
		group: "Work",
		label: "Continual improvements",
		icon: IconTrendingUp,
	},
] as const satisfies {
	kind: string;
	group: (typeof REGISTER_GROUPS)[number];
	label: string;
	icon: Icon;
}[];

export type RegisterKind = (typeof registerKinds)[number]["kind"];

export function findRegisterKind(kind: string) {
	return registerKinds.find((known) => known.kind === kind);
}
