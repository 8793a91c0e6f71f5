import { NavLink, Stack, Text } from "@mantine/core";
import {
	type Icon,
	IconBell,
	IconBuilding,
	IconCamera,
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
import { Fragment, useEffect, useRef } from "react";
import { useShownOrganization } from "../organization.ts";
import { REGISTER_GROUPS, registerKinds } from "../register-kinds.ts";

export function Navigation() {
	const organization = useShownOrganization();
	const path = useLocation({ select: ({ pathname }) => pathname });
	const list = useRef<HTMLDivElement>(null);
	// A low screen does not show all items. The one of the present page is always in sight.
	// biome-ignore lint/correctness/useExhaustiveDependencies: it scrolls when the page changes.
	useEffect(() => {
		list.current
			?.querySelector("[aria-current=page]")
			?.scrollIntoView({ block: "nearest" });
	}, [path, organization?.id]);
	if (!organization) return null;
	const { id: org, role, reads_audit_log: readsAuditLog } = organization;
	const params = { org };
	return (
		<Stack component="nav" aria-label="Main" gap={2} p="xs" ref={list}>
			<Heading isFirst>Monitor</Heading>
			<Item icon={IconHome} label="Home" to="/o/$org" params={params} exact />
			<Item
				icon={IconDeviceLaptop}
				label="Devices"
				to="/o/$org/devices"
				params={params}
			/>
			<Item
				icon={IconReport}
				label="Reports"
				to="/o/$org/reports"
				params={params}
			/>
			<Item
				icon={IconCamera}
				label="Snapshots"
				to="/o/$org/snapshots"
				params={params}
			/>
			{REGISTER_GROUPS.map((name) => (
				<Fragment key={name}>
					<Heading>{name}</Heading>
					{registerKinds
						.filter(({ group }) => group === name)
						.map(({ kind, label, icon }) => (
							<Item
								key={kind}
								icon={icon}
								label={label}
								to="/o/$org/r/$kind"
								params={{ org, kind }}
							/>
						))}
				</Fragment>
			))}
			<Heading>Settings</Heading>
			<Item
				icon={IconBuilding}
				label="Organization"
				to="/o/$org/settings/organization"
				params={params}
			/>
			<Item
				icon={IconListCheck}
				label="Device policy"
				to="/o/$org/settings/device-policy"
				params={params}
			/>
			<Item
				icon={IconUsersGroup}
				label="Members"
				to="/o/$org/settings/members"
				params={params}
			/>
			{role === "admin" && (
				<Item
					icon={IconLogin2}
					label="Sign-in"
					to="/o/$org/settings/sign-in"
					params={params}
				/>
			)}
			<Item
				icon={IconKey}
				label="API tokens"
				to="/o/$org/settings/api-tokens"
				params={params}
			/>
			{role === "admin" && (
				<Item
					icon={IconBell}
					label="Notifications"
					to="/o/$org/settings/notifications"
					params={params}
				/>
			)}
			{role === "admin" && (
				<Item
					icon={IconWebhook}
					label="Webhooks"
					to="/o/$org/settings/webhooks"
					params={params}
				/>
			)}
			{role === "admin" && (
				<Item
					icon={IconMail}
					label="Mail"
					to="/o/$org/settings/mail"
					params={params}
				/>
			)}
			{readsAuditLog && (
				<Item
					icon={IconHistory}
					label="Audit log"
					to="/o/$org/settings/audit-log"
					params={params}
				/>
			)}
		</Stack>
	);
}

function Heading({
	children,
	isFirst = false,
}: {
	children: string;
	isFirst?: boolean;
}) {
	return (
		<Text size="xs" fw={500} c="dimmed" px="sm" pt={isFirst ? 2 : 10} pb={2}>
			{children}
		</Text>
	);
}

function Item({
	icon: Shape,
	label,
	to,
	params,
	exact = false,
}: {
	icon: Icon;
	label: string;
	to: NonNullable<LinkProps["to"]>;
	params: { org: string; kind?: string };
	exact?: boolean;
}) {
	return (
		<NavLink
			renderRoot={(props) => (
				<Link
					to={to}
					params={params as never}
					activeOptions={{ exact, includeSearch: false }}
					activeProps={{ "data-active": true }}
					{...props}
				/>
			)}
			label={label}
			leftSection={<Shape size={18} stroke={1.6} aria-hidden />}
			py={4}
			variant="light"
			style={{ borderRadius: "var(--mantine-radius-sm)" }}
		/>
	);
}
