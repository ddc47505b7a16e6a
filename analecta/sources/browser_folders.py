"""What browsers call the folders that they make themselves, at the top of an exported file, in the person's language.

Chrome, Edge and Firefox mark some of them; Safari and older programs only name them. They say nothing of a topic, so
they are left out of its path.
"""

_NAMES = """
Bookmarks | Bookmarks bar | Bookmarks toolbar | Bookmarks menu | Other bookmarks | Mobile bookmarks | Synced bookmarks
Favorites | Favorites bar | Other favorites | Mobile favorites | Favourites | Favourites bar | Other favourites
Reading list
Lesezeichen | Lesezeichenleiste | Lesezeichen-Symbolleiste | Lesezeichen-Menü | Weitere Lesezeichen | Leseliste
Andere Lesezeichen | Mobile Lesezeichen | Favoriten | Favoritenleiste | Weitere Favoriten
Favoris | Barre de favoris | Barre des favoris | Autres favoris | Favoris mobiles | Barre personnelle | Marque-pages
Menu des marque-pages | Autres marque-pages | Liste de lecture
Marcadores | Barra de marcadores | Otros marcadores | Favoritos | Barra de favoritos | Otros favoritos
Outros favoritos | Outros marcadores | Lista de lectura | Lista de leitura
Preferiti | Barra dei preferiti | Altri preferiti | Segnalibri | Barra dei segnalibri
Altri segnalibri | Elenco lettura
Bladwijzers | Bladwijzerbalk | Andere bladwijzers | Favorieten | Favorietenbalk | Andere favorieten | Leeslijst
Zakładki | Pasek zakładek | Inne zakładki | Ulubione | Pasek ulubionych
Bokmärken | Bokmärkesfältet | Andra bokmärken
Закладки | Панель закладок | Другие закладки | Избранное | Панель избранного | Список для чтения
ブックマーク | ブックマーク バー | ブックマークバー | その他のブックマーク | お気に入り | お気に入りバー
リーディングリスト
书签 | 书签栏 | 其他书签 | 收藏夹 | 收藏夹栏 | 其他收藏夹 | 阅读列表 | 書籤 | 書籤列 | 其他書籤
즐겨찾기 | 북마크바 | 기타 북마크
"""

OWN_NAMES = frozenset(name.strip().casefold() for line in _NAMES.strip().splitlines() for name in line.split("|"))
