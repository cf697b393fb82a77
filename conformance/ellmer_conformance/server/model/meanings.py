"""Which words mean the same: in English without their endings, and the words of everyday requests in other languages."""

# ruff: noqa: SIM905 - the words are easier to read in lines
from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(r"[^\W_](?:[\w'’-]*[^\W_])?")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_HISSES = re.compile(r"(?:[sxz]|ch|sh)es$")
_MOST = 20_000  # characters that are read
_SHORT = 2000  # characters of a text whose words are kept
_LONG_WORD = 40  # characters of a word that has no ending to take off

#: Words that begin a sentence with a capital letter and are no names.
STARTERS = frozenset(
    "a about add all also am an and any are as ask at be book buy calculate call can cancel check choose commit compare "
    "compute convert copy could count create current delete describe did do does don't draw each email evaluate execute "
    "explain extract fetch fill find first for from generate get give go good google has have hello help her hey hi his how "
    "i i'm if in install invite is it its just let list look make may me move multiply my name need next no not now of ok on "
    "one open or order our paint pay pick play please plot print put read register remember remind remove rename repeat reply "
    "reserve return roll run save say schedule search select send set she should show sign solve some start stop sum summarise "
    "summarize switch take tell text thank thanks that the their them then there these they this to today tomorrow transfer "
    "translate try turn two three update use wake want was we were what what's when where which who whose why will with would "
    "write yes yesterday you your plan compose mail message post book reboot download upload increase decrease dim close lock "
    # the same in other languages, where a question begins with them
    "wie was wo wann wer warum welche welcher welches ist gibt zeige zeig sag und bitte ich lies finde "
    "quel quelle quels quelles que quoi où quand est et donne dis combien il elle je peux montre mets cherche trouve "
    "qué cuál cuándo dónde cómo cuánto cuánta cuántos como es hay dime y pon muestra busca "
    "che qual quanto dove com'è hoe wat waar is o os um uma por какая какой какое сколько где и в hur hvordan hvad jak jaka jaki".split()
)
#: Words that do something, and so tell which tool is meant.
VERBS = frozenset(
    "add book buy calculate cancel commit compare compute convert copy count create delete describe draw email extract fetch "
    "generate google list mail message multiply name order paint pay play plot post print read register remind remove rename "
    "reserve roll save schedule search select send solve sum summarise summarize transfer translate update write evaluate "
    "execute install download upload lock wake".split()
)
#: Words without a meaning of their own, in questions and in the names of tools.
_WEAK = (STARTERS - VERBS) | frozenset(
    "been being but by colour color had into know like more most much need out over so something than tool tools up "
    "user using value values very want wants function result results given returns gets looks into".split()
)
_SAME = {
    word: words.split()[0]
    for words in (
        "weather forecast temperature warm cold hot rain raining rainy sunny snow degree umbrella warmer colder hotter",
        "time clock hour oclock",
        "date day calendar",
        "draw paint picture image sketch photo illustration",
        "sum add plus total addition",
        "multiply times product",
        "calculate compute calculator math arithmetic evaluate",
        "search lookup google",
        "mail email message",
        "price cost",
        "flight fly plane",
        "chart plot graph bar",
        "summary summarise summarize",
        "delete remove erase",
        "book reserve booking reservation",
        "event meeting appointment",
        "distance far",
        "population inhabitant resident",
        "pay payment transfer",
        "reminder remind",
        "song music track",
        "light lamp",
        "create register",
        "alarm wake",
        "direction route",
        "run execute",
    )
    for word in words.split()
}
#: The same in German, French, Spanish, Italian, Portuguese, Russian, Arabic, and weather in a few more.
_FOREIGN = {
    word: words.split()[0]
    for words in (
        "weather wetter météo meteo temps tiempo clima tempo погода погоду weer pogoda regnet regen pleut llueve piove wärmer kälter warm kalt vädret väder vejret været sää hava",
        "time uhr uhrzeit spät heure hora ora ore horas время времени час",
        "flight flug flüge flieg fliegen vol vols vuelo vuelos volo voli voo voos рейс",
        "book buche buchen reserviere reservieren réserve réserver reserva reservar prenota reserve забронируй",
        "calculate rechne berechne berechnen calcule calculer calcula calcular calcola вычисли посчитай",
        "translate übersetze übersetzen traduis traduire traduce traduza traduci traducir переведи",
        "convert konvertiere umrechnen rechne convertis convertir convierte converta converti",
        "timer stoppuhr minuteur temporizador",
        "send schick schicke sende senden envoie envoyer envía enviar manda envie invia отправь",
        "mail e-mail courriel correo письмо nachricht mensaje",
        "search suche such suchen cherche chercher recherche busca buscar cerca procura найди",
        "price preis kostet prix coûte precio cuesta prezzo preço цена стоит",
        "stock aktie aktien action acción ações",
        "event termin besprechung réunion rendez-vous reunión cita riunione reunião встреча",
        "reminder erinnere rappelle recuérdame ricordami напомни",
        "draw zeichne male bild dessine image dibuja imagen disegna нарисуй",
        "delete lösche löschen supprime borra elimina apague удали",
        "file datei fichier archivo ficheiro файл",
        "population einwohner bevölkerung habitants habitantes abitanti население",
        "distance entfernung distancia distanza расстояние",
        "light licht lumière luz luce свет",
        "song lied chanson canción canzone música musik musique песню",
        "order bestellung bestelle commande pedido ordine заказ",
        "room zimmer chambre habitación camera quarto номер",
        "news nachrichten nouvelles actualités noticias notizie новости",
        "pay zahle bezahle überweise überweisen paie payer paga pagar transfiere оплати",
        "play spiele spiel joue jouer reproduce toca suona включи",
        "alarm wecker réveil despertador sveglia weck",
        "direction wegbeschreibung itinéraire indicaciones",
        # Arabic
        "weather الطقس طقس الجو",
        "time الساعة الوقت",
        "calculate احسب",
        "translate ترجم",
        "search ابحث",
        "flight رحلة طيران",
        "book احجز",
        "send أرسل ارسل",
        "mail بريد رسالة بريدا",
        "convert حول حوّل",
        "price سعر",
        "population سكان",
        "distance المسافة",
        "mail رسالة",
    )
    for word in words.split()[1:]
}
_SAME |= _FOREIGN
EMPTY = _WEAK - _FOREIGN.keys()
#: The signs of scripts without spaces, each with its meaning. Those without one are words that belong to no name.
SIGNS = {
    sign: words.split()[0]
    for words in (
        "weather 天気 天气 天氣 気温 气温 下雨 下雪 雨 날씨 기온 मौसम อากาศ",
        "time 何時 几点 幾點 時間 时间 時刻 몇시 시간 समय",
        "flight 航空券 飛行機 フライト 机票 航班 機票 항공권 비행기",
        "book 予約 预订 预定 預訂 订 예약",
        "calculate 計算 计算 계산",
        "translate 翻訳 翻译 翻譯 訳 번역",
        "search 検索 搜索 搜尋 探して 查找 검색",
        "convert 換算 换算 换成 兑换 兌換 両替 환전",
        "currency 為替 汇率 匯率",
        "mail メール 邮件 郵件 이메일 메일",
        "send 送って 送信 发送 發送 发 보내",
        "timer タイマー 计时器 타이머",
        "price 値段 価格 价格 價格 가격",
        "stock 株価 株 股票 股价 주가",
        "event 会議 会议 予定 会面 日程 회의 일정",
        "reminder リマインド 提醒 알림",
        "draw 描いて 画像 画 图片 그려",
        "hotel ホテル 酒店 호텔",
        "news ニュース 新闻 新聞 뉴스",
        "population 人口 인구",
        "distance 距離 距离 多远 多遠 거리",
        "file ファイル 文件 파일",
        "read 読んで 读取 读 읽어",
        "delete 削除 删除 삭제",
        "light 電気 灯 조명",
        "song 曲 音楽 歌 音乐 노래",
        "",
    )
    for sign in words.split()[1:]
}
#: Whole phrases, and what they ask for.
_PHRASES = tuple(
    (re.compile(pattern, re.IGNORECASE), meaning)
    for pattern, meaning in (
        (r"\bto-?\s?do\b", "todo"),
        (r"\bwie weit\b|\bà quelle distance\b|\ba qué distancia\b", "distance"),
        (r"\bhow (?:do|can|would) (?:i|we|you) get (?:from|to)\b", "direction"),
        (r"`[^`\n]+`", "command"),
        (r"\bpeople (?:live|are there|does|are living)\b", "population"),
        (r"\b(?:write|wrote) to\b.{0,60}@|\b(?:contact|notify|inform) \S+@", "mail"),
        (r"\bche tempo fa\b", "weather"),
        (
            r"\bhow (?:do|would|can) (?:you|i|we) say\b|\bhow to say\b|\bwie sagt man\b|\bcomment dit-on\b|\bcómo se dice\b",
            "translate",
        ),
        (r"\bselect\b.{1,200}\bfrom\b|\binsert into\b", "sql"),
    )
)


def content_words(text: str) -> frozenset[str]:
    """Returns the words of a text that carry its meaning, without endings, and with one word for several of a kind. Those of
    short texts are kept: each request repeats the names and descriptions of its tools.
    """
    return _content_words(text) if len(text) < _SHORT else _content_words.__wrapped__(text)


@lru_cache(1024)
def _content_words(text: str) -> frozenset[str]:
    stems = frozenset([_SAME.get(stem, stem) for stem in _stems(text)])
    meant = {meaning for phrase, meaning in _PHRASES if phrase.search(text[:_SHORT])}
    if not text.isascii():
        meant |= {meaning for sign, meaning in SIGNS.items() if sign in text}
    return stems | meant


def plain_words(text: str) -> frozenset[str]:
    """Returns the words of a text that carry its meaning, without endings, each with its own meaning."""
    return _plain_words(text) if len(text) < _SHORT else _plain_words.__wrapped__(text)


@lru_cache(1024)
def _plain_words(text: str) -> frozenset[str]:
    return frozenset(_stems(text))


def _stems(text: str) -> list[str]:
    spaced = _HUMP.sub(" ", text[:_MOST]).replace("_", " ").replace("-", " ").lower()
    words = [word for word in _TOKEN.findall(spaced) if word not in EMPTY and len(word) > 1]
    return [stem(word) if len(word) < _LONG_WORD else word for word in words]


@lru_cache(8192)
def stem(word: str) -> str:
    """Returns a word in small letters without an ending, in a form of the groups above if one has it."""
    word = word.removesuffix("'s").removesuffix("’s")
    stems = [word.removesuffix(ending) for ending in ("s", "es", "ed", "ing") if word.endswith(ending)]
    for shorter in stems:
        if shorter in _SAME:
            return shorter
    if word in _SAME or not stems or word.endswith("ss") or len(stems[-1]) < 3:
        return word
    return stems[0] if word.endswith("s") and not _HISSES.search(word) else stems[-1]


def has_a_meaning(word: str) -> bool:
    """Tells whether a word, in small letters, belongs to a group above, and so begins a sentence without being a name."""
    return stem(word) in _SAME


def is_foreign(word: str) -> bool:
    """Tells whether a word, in small letters, is one of the words of other languages. German nouns have a capital letter."""
    return word in _FOREIGN
