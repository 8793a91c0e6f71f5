import { NavLink, Stack, UnstyledButton } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import {
	type Icon,
	IconBell,
	IconBuilding,
	IconCamera,
	IconChevronDown,
	IconDeviceLaptop,
	IconHistory,
	IconHome,
	IconKey,
	IconListCheck,
	IconLogin2,
	IconMail,
	IconReport,
	IconUsersGroup,
	IconWebhook,
} from "@tabler/icons-react";
import { Link, type LinkProps, useLocation } from "@tanstack/react-router";
import { memo, useEffect, useId, useMemo, useRef } from "react";
import { useShownOrganization } from "../organization.ts";
import { REGISTER_GROUPS, registerKinds } from "../register-kinds.ts";
import { useFoldedGroups } from "./folded-groups.ts";

/** The screens on which all items have room. On lower ones, the settings are folded at first. */
const HIGH = "(min-height: 1150px)";
const SETTINGS = "Settings";

interface Item {
	icon: Icon;
	label: string;
	to: NonNullable<LinkProps["to"]>;
	kind?: string;
	exact?: boolean;
}

/** Shows the pages in groups. A group can be folded, and the browser remembers which ones are. */
export function Navigation() {
	const organization = useShownOrganization();
	const path = useLocation({ select: ({ pathname }) => pathname });
	const isHigh = useMediaQuery(HIGH, undefined, {
		getInitialValueInEffect: false,
	});
	const [folded, fold] = useFoldedGroups();
	const list = useRef<HTMLDivElement>(null);
	// A low screen does not show all items. The one of the present page is always in sight. An
	// observer finds out without laying out the page once more.
	// biome-ignore lint/correctness/useExhaustiveDependencies: it scrolls when the page changes.
	useEffect(() => {
		const current = list.current?.querySelector("[aria-current=page]");
		if (!current) return;
		const observer = new IntersectionObserver((entries) => {
			observer.disconnect();
			if (entries.every(({ intersectionRatio }) => intersectionRatio === 1))
				return;
			current.scrollIntoView({ block: "nearest" });
		});
		observer.observe(current);
		return () => observer.disconnect();
	}, [path, organization?.id]);
	const isAdmin = organization?.role === "admin";
	const readsAuditLog = organization?.reads_audit_log === true;
	const groups = useMemo(
		() => [
			...GROUPS,
			{ name: SETTINGS, items: settingsOf(isAdmin, readsAuditLog) },
		],
		[isAdmin, readsAuditLog],
	);
	if (!organization) return null;
	const { id: org } = organization;
	const isFolded = (name: string) =>
		folded[name] ??
		(name === SETTINGS && !isHigh && !path.startsWith(`/o/${org}/settings/`));
	return (
		<Stack component="nav" aria-label="Main" gap={1} p="xs" ref={list}>
			{groups.map(({ name, items }) => (
				<ItemGroup
					key={name}
					name={name}
					items={items}
					org={org}
					isFolded={isFolded(name)}
					onFold={(isNow) => fold(name, isNow)}
				/>
			))}
		</Stack>
	);
}

const MONITOR: Item[] = [
	{ icon: IconHome, label: "Home", to: "/o/$org", exact: true },
	{ icon: IconDeviceLaptop, label: "Devices", to: "/o/$org/devices" },
	{ icon: IconReport, label: "Reports", to: "/o/$org/reports" },
	{ icon: IconCamera, label: "Snapshots", to: "/o/$org/snapshots" },
];

const registersOf = (name: (typeof REGISTER_GROUPS)[number]): Item[] =>
	registerKinds
		.filter(({ group }) => group === name)
		.map(({ kind, label, icon }) => ({
			icon,
			label,
			kind,
			to: "/o/$org/r/$kind",
		}));

const GROUPS = [
	{ name: "Monitor", items: MONITOR },
	...REGISTER_GROUPS.map((name) => ({ name, items: registersOf(name) })),
];

function settingsOf(isAdmin: boolean, readsAuditLog: boolean): Item[] {
	const all: (Item & { isShown?: boolean })[] = [
		{
			icon: IconBuilding,
			label: "Organization",
			to: "/o/$org/settings/organization",
		},
		{
			icon: IconListCheck,
			label: "Device policy",
			to: "/o/$org/settings/device-policy",
		},
		{
			icon: IconUsersGroup,
			label: "Members",
			to: "/o/$org/settings/members",
		},
		{
			icon: IconLogin2,
			label: "Sign-in",
			to: "/o/$org/settings/sign-in",
			isShown: isAdmin,
		},
		{
			icon: IconKey,
			label: "API tokens",
			to: "/o/$org/settings/api-tokens",
		},
		{
			icon: IconBell,
			label: "Notifications",
			to: "/o/$org/settings/notifications",
			isShown: isAdmin,
		},
		{
			icon: IconWebhook,
			label: "Webhooks",
			to: "/o/$org/settings/webhooks",
			isShown: isAdmin,
		},
		{
			icon: IconMail,
			label: "Mail",
			to: "/o/$org/settings/mail",
			isShown: isAdmin,
		},
		{
			icon: IconHistory,
			label: "Audit log",
			to: "/o/$org/settings/audit-log",
			isShown: readsAuditLog,
		},
	];
	return all.filter(({ isShown = true }) => isShown);
}

function ItemGroup({
	name,
	items,
	org,
	isFolded,
	onFold,
}: {
	name: string;
	items: readonly Item[];
	org: string;
	isFolded: boolean;
	onFold: (isFolded: boolean) => void;
}) {
	const id = useId();
	return (
		<>
			<button
				type="button"
				className={GROUP}
				aria-expanded={!isFolded}
				{...(!isFolded && { "aria-controls": id })}
				onClick={() => onFold(!isFolded)}
			>
				{name}
				<IconChevronDown
					size={14}
					aria-hidden
					style={{ rotate: isFolded ? "-90deg" : "none" }}
				/>
			</button>
			{!isFolded && (
				<div className="navigation-items" id={id}>
					{items.map((item) => (
						<ItemLink key={item.label} item={item} org={org} />
					))}
				</div>
			)}
		</>
	);
}

const { root, section, body, label: text } = NavLink.classes;
const ITEM = `mantine-focus-auto navigation-item ${root} ${UnstyledButton.classes.root}`;
const GROUP = `mantine-focus-auto navigation-group ${UnstyledButton.classes.root}`;
const ACTIVE = { "data-active": true };

/**
 * Looks like Mantine's NavLink. Its elements are plain, because the navigation has a tenth of all
 * components of a page, and it renders only again when its item changes.
 */
const ItemLink = memo(function ItemLink({
	item,
	org,
}: {
	item: Item;
	org: string;
}) {
	const { icon: Shape, label, to, kind, exact = false } = item;
	return (
		<Link
			to={to}
			params={{ org, kind } as never}
			activeOptions={{ exact, includeSearch: false }}
			activeProps={ACTIVE}
			className={ITEM}
		>
			<span className={section} data-position="left">
				<Shape size={18} stroke={1.6} aria-hidden />
			</span>
			<div className={body}>
				<span className={text}>{label}</span>
			</div>
		</Link>
	);
});
