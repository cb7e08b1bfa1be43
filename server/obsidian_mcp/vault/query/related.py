"""Words that people use for the same thing. A question in other words than the note's still finds it.

They decide the order alone: what is found has one of the words that were asked for. Only questions of several words are
widened so; a word or two is a look-up. A line is a group; a word may stand in several; `_` joins the words of a phrase.
English, like the stop words.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from obsidian_mcp.vault.forms import Forms
from obsidian_mcp.vault.query.ranking import Word
from obsidian_mcp.vault.words import BETWEEN_WORDS, IN_WORD

FEWEST_WORDS = 3  # of a question that is widened
LONGEST_PREFIX = 5  # letters of a stem from which on every word that begins with it counts

GROUPS = """
account login sign_in credentials password
add insert put include append attach
add_on addon plugin extension module
address url link permalink web_address
agenda schedule timetable calendar plan
agree accept approve consent confirm
alarm reminder notification alert
amount number quantity count total sum
analyze analysis examine investigate study
annual yearly
answer reply respond response solution
app application program software tool
appear display show render visible view
argue dispute debate discussion
arrange arrangement layout order organize workspace sort
article post essay paper blog
ask question query request inquiry
assign delegate allocate
attachment file upload embed media
audience visitors viewers readers presentation
author writer creator
automatic automatically auto automation
background wallpaper backdrop
backup back_up copy archive snapshot
bad wrong faulty broken corrupt
begin start launch open initiate
bill invoice receipt payment charge
block paragraph chunk
board kanban canvas whiteboard
bold strong emphasis italic formatting
book novel volume reading
boss manager supervisor lead
box callout frame panel admonition container
bring_back restore recover reopen load
broken dead missing unresolved
browser chrome safari firefox web
bug error issue fault problem defect
build create make construct generate
button icon control
buy bought purchase pay order payment
calculate compute formula math
cancel stop abort terminate end unsubscribe
car vehicle automobile
change edit modify alter update adjust
chart graph diagram plot visualization
cheap inexpensive discount affordable
check verify validate test confirm
checkbox todo task checklist tick
child kid children
choose pick select option decide
city town
class course lesson lecture
clean tidy clear
click tap press
close shut exit quit
cloud online remote server
code programming script source snippet
collapse fold hide minimize shrink
colleague coworker teammate collaborator
collect gather capture clip save
color colour coloured highlight theme tint
combine merge join unite consolidate compose
command shortcut hotkey keybinding
comment remark feedback note
company firm business organization
compare comparison difference versus
complete finish finished done completed
computer desktop laptop pc mac machine
condition requirement prerequisite criterion
connect connection link relate attach
contact person people address
conversation chat dialogue talk discussion
convert transform export import migrate
cook recipe meal dish food
copy duplicate clone paste
cost price fee charge expense
count statistics number analytics tally word_count
country nation state
crash freeze hang stuck
customize personalize configure theme appearance
daily journal diary
dangerous unsafe risk risky security
dark night black
data information content
date day deadline due
deadline due date
decide decision choose resolve
decrease reduce lower shrink cut
default standard preset
delete remove erase discard trash throw_away threw_away bin
describe description explain summary
design style layout appearance
develop development developer programming
device phone tablet mobile
disable turn_off switch_off deactivate
discount reduced cheaper education student
disease illness condition disorder
doctor physician medical
document note file page text
domain website site address
download install get
draft outline sketch
draw drawing sketch paint picture
drop drag move
earn income salary revenue money
easy simple quick
education school learning teaching student
embed include insert transclude
employee worker staff
enable turn_on switch_on activate
encrypt encryption secure protect security password
end finish close conclude
event meeting appointment occasion
example sample instance template
exercise workout training fitness
expand unfold open enlarge
expensive costly pricey
export save download convert
fail failure error break
family relatives parents
fast quick speed performance rapid
favorite favourite bookmark star pin starred
field property attribute metadata column
figure picture image illustration
film movie cinema
filter narrow search query
find search look_for locate discover
fix repair solve troubleshoot resolve mend
flight trip travel journey
folder directory
font typeface typography
forget lose lost misplace
form shape layout
free gratis no_cost
friend mate pal
front_matter frontmatter properties metadata yaml
garden plant yard
get_back restore recover recovery undo
gift present
goal objective target aim
graph network map visualization
group cluster category folder set
grow increase expand rise
guide tutorial manual instructions handbook help
happy glad joy
header heading title section
health medical wellness
help support assistance
hide conceal collapse invisible hidden
history version revision previous past
hobby interest pastime
holiday vacation trip leave
hotel accommodation lodging
house home apartment flat
hover preview pointer mouse
idea thought concept notion
image picture photo screenshot
import migrate bring_in move_from
important crucial critical priority
improve enhance better optimize
increase raise grow
index catalogue list table_of_contents
insert add embed
install setup set_up deploy
interview conversation hiring
jump navigate go_to
keyboard shortcut hotkey keys
label tag category keyword
language translate locale translation
large big huge
law legal rule regulation
learn study course
lesson lecture class
library collection archive
license licence subscription
limit maximum restriction quota
link reference connection backlink
list bullet enumeration items
location place position where
lock protect read_only prevent
log journal record diary
lost missing gone deleted recover
mail email message
map chart atlas location
mark highlight annotate
market marketing sales
meet meeting call conference
memory storage space
menu list dropdown
merge combine join unite
message chat mail text
mistake accident accidentally error unintentional
mobile phone ios android iphone tablet
money payment price refund cost
money_back refund return reimbursement
move relocate transfer drag
movie film cinema
multiple several many various
music song audio
name title rename label
navigate browse jump switch
network graph connections
new latest recent fresh
news update announcement
note page document file
notify notification reminder alert
number digit count
offline local without_internet
online internet web
open launch load
option setting preference choice
order arrange sort sequence
owner admin administrator
page note document
pane panel tab split window
password passphrase secret key
paste clipboard copy
pay payment purchase billing
peek preview glance hover
people users members team
phone mobile iphone android
photo picture image
picture image photo
pin bookmark favorite stick
place location spot
plan schedule roadmap
presentation slides slideshow deck
preview peek view reading
price cost fee
print pdf paper
private privacy confidential secret
problem issue trouble bug
program app software
project initiative undertaking
protect secure guard security
publish share release public website
quick fast speedy
quote citation quotation blockquote
random arbitrary surprise
read view open
reading view preview
recipe cooking dish
recent latest new
recover restore undelete get_back recovery
refund reimbursement money_back return
remember save store recall
reminder alert notification
remove delete uninstall erase
rename retitle name
repeat recurring again duplicate
replace substitute swap
report summary account
research study investigation
reset restore default
restore recover revert undo
result outcome output
review evaluate check
revert undo restore rollback
safe secure trusted security
salary pay wage income
save store keep
schedule plan timetable calendar
school education student teacher
screen display monitor window
script code automation
search find lookup query
section heading part chapter
secure safe encrypted protect
select choose pick highlight
send share mail deliver
settings preferences options configuration
share collaborate publish send
shop store buy
short brief concise shorter
shortcut hotkey keybinding
show display reveal present
side_by_side split pane
sign symbol mark
site website page
slide presentation slideshow
slow lag performance
sort order arrange
sound audio voice recording
space room storage
speak talk voice audio
speed performance fast
spell spelling spellcheck typo
split divide separate extract
start begin launch startup
statistics analytics metrics count
stop cancel quit
store save keep
stranger third_party untrusted community
strike strikethrough cross_out
student pupil education
style css theme appearance
subscribe subscription plan license
summary overview abstract
support help contact assistance
switch change toggle
sync synchronize synchronization
tab window pane
table grid spreadsheet
tag label keyword category
task todo action_item checkbox
teach teacher education
team group colleagues collaboration
template boilerplate pattern
text content words
theme appearance style skin
throw_away delete trash discard
time hour clock
tip hint advice
title name heading
todo task checklist
toggle switch enable
tool utility app
topic subject theme
track monitor follow
translate language localization
travel trip journey
trip journey travel
troubleshoot fix debug problem
undo revert restore
uninstall remove delete
unite merge combine
update upgrade change
upgrade update newer
upload attach send
user person account
vault repository collection
version revision release
video movie recording clip
view display see
visit visitor traffic analytics
voice audio speech recording
vote poll
warning caution alert
wash clean
watch view
weak poor
wealth money rich
weather climate
web internet online
website site page
weekly week
window pane popout
word term
work job employment
write compose author
wrong incorrect mistake
"""


class Others:
    """Other words for one of a question's. `in_text` and `in_name` are what it is worth that a note has one of them."""

    in_text, in_name = 1.0, 2.0

    def __init__(self, words: Sequence[str]) -> None:
        self._tokens = [word.split("_") for word in words]
        self._pattern = re.compile("|".join(f"(?<![0-9a-z]){_regex(tokens)}" for tokens in self._tokens))

    @property
    def expression(self) -> str:
        """In the language of SQLite's FTS5."""
        return " OR ".join(map(_phrase, self._tokens))

    def presence(self, texts: Sequence[str]) -> float:
        """In a note's name, its headings and its text, as they are searched."""
        if any(self._pattern.search(text) for text in texts[:-1]):
            return self.in_name
        return self.in_text if self._pattern.search(texts[-1]) else 0.0


def _phrase(tokens: Sequence[str]) -> str:
    """A word with its forms, roughly: what begins with a long stem; or a phrase as it stands."""
    if len(tokens) > 1:
        return f'"{" ".join(tokens)}"'
    root = stem(tokens[0])
    return f'"{root}" *' if len(root) >= LONGEST_PREFIX else f'"{tokens[0]}" OR "{tokens[0]}s"'


def _regex(tokens: Sequence[str]) -> str:
    if len(tokens) > 1:
        return BETWEEN_WORDS.join(tokens) + f"(?!{IN_WORD})"
    root = stem(tokens[0])
    return root if len(root) >= LONGEST_PREFIX else f"{tokens[0]}s?(?!{IN_WORD})"


def related(words: Sequence[Word]) -> dict[Word, Others]:
    """For words of a question, which stand in it in this order: others for the same, as far as there are any."""
    if len(words) < FEWEST_WORDS:
        return {}
    groups = _by_stem()
    found: dict[Word, Others] = {}
    names = ["_".join(word.tokens) for word in words]
    for word, name, following in zip(words, names, [*names[1:], ""], strict=True):
        pair = f"{name}_{following}"
        others = [*groups.get(_key(name), ()), *groups.get(_key(pair), ())]
        told = list(dict.fromkeys(other for other in others if other not in (name, pair)))
        if told:
            found[word] = Others(told)
    return found


@functools.cache
def _by_stem() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in GROUPS.split("\n"):
        group = line.split()
        for word in group:
            found.setdefault(_key(word), []).extend(other for other in group if other != word)
    return found


@functools.lru_cache(maxsize=4000)
def _key(word: str) -> str:
    """The same for a word's forms."""
    return "_".join(stem(part) for part in word.split("_"))


def stem(word: str) -> str:
    return Forms(word).stem
