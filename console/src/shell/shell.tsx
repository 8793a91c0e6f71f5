import {
	AppShell,
	Burger,
	Container,
	Group,
	ScrollArea,
	UnstyledButton,
} from "@mantine/core";
import { useDisclosure, useHotkeys, useMediaQuery } from "@mantine/hooks";
import {
	Link,
	Outlet,
	useParams,
	useRouterState,
	useSearch,
} from "@tanstack/react-router";
import { Suspense, useEffect, useRef } from "react";
import { NARROW } from "../narrow-screens.ts";
import { rememberOrganization } from "../organization.ts";
import { PageSkeleton } from "../parts/page-skeleton.tsx";
import { AccountMenu } from "./account-menu.tsx";
import { AsOfButton } from "./as-of-button.tsx";
import { Brand } from "./brand.tsx";
import { ColorSchemeMenu } from "./color-scheme-menu.tsx";
import { HelpButton } from "./help-button.tsx";
import { Navigation } from "./navigation.tsx";
import { OrganizationSwitcher } from "./organization-switcher.tsx";
import { ProofDialog } from "./proof-dialog.tsx";
import { SearchButton } from "./search-button.tsx";

const HelpAndLooks = () => (
	<>
		<HelpButton />
		<ColorSchemeMenu />
	</>
);

/** Calls a function after each navigation. It renders alone then, without the frame around it. */
function OnNavigation({ then }: { then: () => void }) {
	const pathname = useRouterState({
		select: ({ location }) => location.pathname,
	});
	// biome-ignore lint/correctness/useExhaustiveDependencies: each navigation calls it.
	useEffect(then, [pathname]);
	return null;
}

/** The frame around every page of a signed-in user. */
export function Shell() {
	const [isOpen, { toggle, close }] = useDisclosure();
	const isNarrow = useMediaQuery(NARROW, undefined, {
		getInitialValueInEffect: false,
	});
	const org = useParams({ strict: false, select: (params) => params.org });
	const isPast = useSearch({
		strict: false,
		select: (search) => "as_of" in search,
	});
	const burger = useRef<HTMLButtonElement>(null);
	const dismiss = () => {
		close();
		// The element that had the focus is hidden now, so the focus returns to the button.
		burger.current?.focus();
	};
	useHotkeys(isOpen ? [["Escape", dismiss]] : []);
	useEffect(() => {
		if (org) rememberOrganization(org);
	}, [org]);
	return (
		<AppShell
			header={{ height: 52 }}
			navbar={{
				width: 248,
				breakpoint: "sm",
				collapsed: { mobile: !isOpen },
			}}
			padding={{ base: "md", sm: "lg" }}
		>
			<a className="skip-link" href="#content">
				Skip to the content
			</a>
			<AppShell.Header>
				<Group h="100%" px="sm" gap="xs" wrap="nowrap">
					<Burger
						ref={burger}
						opened={isOpen}
						onClick={toggle}
						hiddenFrom="sm"
						size="sm"
						aria-label={isOpen ? "Close the navigation" : "Open the navigation"}
						aria-expanded={isOpen}
					/>
					<UnstyledButton
						renderRoot={(props) =>
							// A link within the organization stays in the past.
							org && isPast ? (
								<Link to="/o/$org" params={{ org }} {...props} />
							) : (
								<Link to="/" {...props} />
							)
						}
						aria-label="Assay, home"
					>
						<Brand />
					</UnstyledButton>
					<OrganizationSwitcher />
					<Group gap={4} wrap="nowrap" ml="auto">
						<SearchButton />
						<AsOfButton />
						{!isNarrow && <HelpAndLooks />}
						<AccountMenu />
					</Group>
				</Group>
			</AppShell.Header>
			<AppShell.Navbar mod={{ open: isOpen }} className="navigation">
				<ScrollArea flex={1} type="auto" viewportProps={{ tabIndex: -1 }}>
					<Navigation />
				</ScrollArea>
				{/* On a phone, the header has no room for these beside the organization's name. */}
				{isNarrow && (
					<Group gap={4} p="xs">
						<HelpAndLooks />
					</Group>
				)}
			</AppShell.Navbar>
			<AppShell.Main id="content" tabIndex={-1}>
				<Container size="xl" px={0}>
					<Suspense fallback={<PageSkeleton />}>
						<Outlet />
					</Suspense>
				</Container>
			</AppShell.Main>
			<ProofDialog />
			<OnNavigation then={close} />
		</AppShell>
	);
}
